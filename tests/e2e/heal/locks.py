#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""locks.py ATOMSAN SOURCE MODE...: what serves as a lock and is none of libc's does not keep a section from being healed, in
both forms. In the first mode the program fails as it is."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

RUNS = 10
SELDOM = 2
PATIENT = "heal_timeout=20000"  # so that a machine that has other things to do is not taken for a circle
HASTY = "heal_timeout=20"  # where there is one that nobody can see, each wait is that long


def fail(text):
    sys.exit(f"locks.py: {text}")


def main():
    atomsan, source = sys.argv[1:3]
    name = pathlib.Path(source).name
    lines = pathlib.Path(source).read_text().splitlines()
    read, write = (1 + next(n for n, line in enumerate(lines) if text in line) for text in ("value = total;", "total = value;"))
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        table = folder / "table"
        table.write_text("atomicity 1\nprogram locks\n" + "".join(
            f"section A-{number:08x} total\n  entry R total get {name}:{read}:0\n"
            f"  end W total put {name}:{write}:0 allow R\n  unit {unit} {name}\n  from finding V-{number} open\n"
            for number, unit in ((1, "add"), (2, "move"))))
        for form, words in (("tested", []), ("field", [f"--heal={table}"])):
            built = subprocess.run([atomsan, "cc", *words, "-g", "-O2", "-pthread", source, "-o", folder / form],
                                   stderr=subprocess.PIPE, text=True, check=False)
            if built.returncode or built.stderr:
                fail(f"{form} does not build: {built.stderr}")

        def run(form, options, mode):
            return subprocess.run([folder / form, mode], env=dict(os.environ, ATOMSAN_OPTIONS=options), stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, timeout=120, check=False)

        for form, options, off in (("tested", f"heal=1:repository={table}:verbosity=1", "heal=0"),
                                   ("field", "verbosity=1", "heal=0")):
            if not any(run(form, off, sys.argv[3]).returncode for _ in range(RUNS)):
                fail(f"{form}: it does not fail as it is, so there is nothing to be seen")
            given_up = 0
            for mode in sys.argv[3:] * RUNS:
                done = run(form, f"{options}:{HASTY if mode == 'asks' else PATIENT}", mode)
                # Who waits for long in a section gives it up, and says so; then it is not healed. Seldom.
                if done.returncode and re.search(r"given up [1-9]", done.stderr):
                    given_up += 1
                    if given_up <= SELDOM:
                        continue
                if done.returncode or not re.search(r"was entered [1-9]", done.stderr):
                    fail(f"{form}, {mode}: status {done.returncode}: {done.stdout}{done.stderr}")


main()
