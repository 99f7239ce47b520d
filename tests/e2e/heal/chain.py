#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""chain.py ATOMSAN SOURCE: a unit that goes from lock to lock, against others that do so the other way round.

The program is the corpus's cell_matrix. Two units that had each its first lock, and wanted the other's next, could not
wait for each other; so they must stand in line before that lock, in a tested build and in one for the field. The section
is what a finding of the whole unit says.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

RUNS = 15
NOISE = "noise=random,50,sleep,200"
PATIENT = "heal_timeout=20000"  # so that a machine that has other things to do is not taken for a circle


def fail(text):
    sys.exit(f"chain.py: {text}")


def place(source, kind, member, text):
    """An access of the repository: the line that has the text, and the function that it stands in."""
    function = None
    for number, line in enumerate(source, 1):
        found = re.match(r"static .*?\b(\w+)\(", line)
        if found:
            function = found[1]
        if text in line:
            return f"{kind} cell.{member} {function} cell_matrix.c:{number}:0"
    return fail(f"nothing says {text}")


def failures(program, options):
    count = 0
    for seed in range(1, RUNS + 1):
        done = subprocess.run([str(program)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=300,
                              env=dict(os.environ, ATOMSAN_OPTIONS=f"{options}:seed={seed}"), check=False)
        if done.returncode not in (0, 1):
            fail(f"{program} ended with {done.returncode}: {done.stderr.decode()}")
        count += done.returncode
    return count


def main():
    atomsan, source = sys.argv[1:3]
    lines = pathlib.Path(source).read_text().splitlines()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        table = folder / "table"
        table.write_text("\n".join([
            "atomicity 1", "program cell_matrix", "section A-00000001 cell.value",
            "  entry " + place(lines, "R", "value", "value = cell->value"),
            "  end " + place(lines, "W", "value", "cell->value = value") + " allow none",
            "  unit update cell_matrix.c", "  instance any", "  from finding V-1 open"]) + "\n")
        for name, words in (("tested", []), ("field", [f"--heal={table}"])):
            built = subprocess.run([atomsan, "cc", *words, "-g", "-O2", "-pthread", source, "-o", folder / name],
                                   stderr=subprocess.PIPE, text=True, check=False)
            if built.returncode or built.stderr:
                fail(f"{name} does not build: {built.stderr}")
        if not failures(folder / "tested", NOISE):
            fail("noise alone does not make it fail, so there is nothing to be seen")
        healed = failures(folder / "tested", f"{NOISE}:heal=1:repository={table}:{PATIENT}")
        if healed:
            fail(f"healed, it failed in {healed} of {RUNS} runs")
        field = failures(folder / "field", PATIENT)
        if field:
            fail(f"built for the field, it failed in {field} of {RUNS} runs")


main()
