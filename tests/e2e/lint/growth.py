#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""growth.py ATOMSAN SOURCE-ROOT LLVM-BIN: the steps of lint's parts grow with the program, and not faster.

Programs that bench/growing.py makes up are linted, each twice as long as the one before. What --stats counts as steps is
the same on every machine, so a part that goes through all pairs of something is seen whatever the time. A part may take a
little more than twice the steps for twice the instructions: summaries and contexts have limits, which small programs have
not come to yet. That it takes steps at all is asked as well, for a part that counts nothing would pass.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ATOMSAN, ROOT, CLANG = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]) / "clang"
sys.path.insert(0, str(ROOT / "bench"))
from growing import program  # noqa: E402

SIZES = (5000, 10000, 20000)
MOST = 1.1
# Parts that make-believe programs give nothing to do.
IDLE = {"other_rules"}


def counts_of(folder, lines, kind):
    source = folder / "program.c"
    source.write_text(program(lines, kind))
    # Bitcode as the front end has it, which is what atomsan cc keeps.
    subprocess.run([CLANG, "-g", "-O1", "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c", source, "-o", folder / "program.bc"],
                   check=True)
    done = subprocess.run([ATOMSAN, "lint", "--json", "--no-store", "--stats", folder / "program.bc"],
                          stdout=subprocess.PIPE, check=False)
    if done.returncode not in (0, 66):
        sys.exit(f"lint ended with {done.returncode}")
    return json.loads(done.stdout)["counts"]


def main():
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        for kind in ("modules", "threads", "users"):
            rows = [counts_of(pathlib.Path(name), lines, kind) for lines in SIZES]
            parts = [key.removeprefix("steps_") for key in rows[0] if key.startswith("steps_")]
            if len(parts) < 10:
                wrong.append(f"only {len(parts)} parts count steps")
            for part in parts:
                for before, after in zip(rows, rows[1:]):
                    size = after["instructions_reached"] / before["instructions_reached"]
                    steps = after[f"steps_{part}"], before[f"steps_{part}"]
                    if not all(steps):
                        if part not in IDLE:
                            wrong.append(f"{kind}: {part} takes no steps")
                    elif steps[0] / steps[1] > size * MOST:
                        wrong.append(f"{kind}: {size:.2f} times the instructions, but {part} takes "
                                     f"{steps[0] / steps[1]:.2f} times the steps")
    for text in wrong:
        print(text)
    sys.exit(bool(wrong))


main()
