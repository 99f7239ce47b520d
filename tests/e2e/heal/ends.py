#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ends.py ATOMSAN SOURCE: however a program ends, what was healed in it is told, once for each process."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ENTERED = 150  # in each process
PATIENT = "heal_timeout=20000"
#        mode: status, processes that tell in a tested build, and in one for the field
MODES = {"return": (0, 1, 1), "_exit": (0, 1, 1), "quick_exit": (0, 1, 1), "pthread_exit": (0, 1, 1), "child": (0, 2, 2),
         "vfork": (0, 1, 1), "exec": (0, 1, None), "abort": (-6, 1, None), "assert": (-6, 1, None), "crash": (-9, 0, None)}


def fail(text):
    sys.exit(f"ends.py: {text}")


def main():
    atomsan, source = os.path.abspath(sys.argv[1]), sys.argv[2]
    lines = pathlib.Path(source).read_text().splitlines()
    entry, end = (1 + next(n for n, line in enumerate(lines) if f"/* {word} */" in line) for word in ("entry", "end"))
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        table = folder / "table"
        table.write_text(f"atomicity 1\nprogram ends\nsection A-00000001 count\n  entry R count add ends.c:{entry}:0\n"
                         f"  end W count add ends.c:{end}:0\n  from finding V-1 open\n")
        for name, words in (("tested", []), ("field", [f"--heal={table}"])):
            subprocess.run([atomsan, "cc", *words, "-g", "-O2", "-pthread", source, "-o", folder / name], check=True)

        def run(words, options=""):
            return subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120,
                                  env=dict(os.environ, ATOMSAN_OPTIONS=options), check=False)

        for mode, (status, tested, field) in MODES.items():
            done = run([atomsan, "heal", "--no-store", "--wait=20000", "--repository=table", "--", "./tested", mode])
            if done.returncode != status:
                fail(f"{mode}: status {done.returncode}: {done.stderr}")
            told = re.search(r"^A-00000001 +(\d+)", done.stderr, re.M)
            if not told and (tested or "ended by signal 9" not in done.stderr):
                fail(f"{mode}: nothing is told: {done.stderr}")
            if told and int(told[1]) != tested * ENTERED:
                fail(f"{mode}: {told[1]} entries are told, and there were {tested * ENTERED}")
            if field is not None:
                done = run(["./field", mode], f"verbosity=1:{PATIENT}")
                told = [int(n) for n in re.findall(r"was entered (\d+) times", done.stderr)]
                if done.returncode != status or told != [ENTERED] * field:
                    fail(f"{mode}, in the field: status {done.returncode}, told {told}: {done.stderr}")


main()
