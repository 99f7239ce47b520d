#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""vain.py ATOMSAN SOURCE: a section that is always waited for in vain is soon waited for no more, in both forms.

How long that takes is the machine's business; counted is how often somebody waited as long as is allowed, and how
often not as long.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROUNDS = 100
MOMENTS = 600  # of two milliseconds, more than four limits
LIMIT = 120


def fail(text):
    sys.exit(f"vain.py: {text}")


def run(words, **more):
    return subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, timeout=LIMIT, check=False, **more)


def judge(form, whole, short):
    if not whole:
        fail(f"{form}: nobody waited at all")
    if not short or whole * 4 > ROUNDS or whole + short < ROUNDS:
        fail(f"{form}: of {ROUNDS} waits in vain {whole} were as long as is allowed, and {short} cut short")


def main():
    atomsan, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    lines = pathlib.Path(source).read_text().splitlines()
    place = {word: number for number, line in enumerate(lines, 1) for word in ("entry", "end") if f"/* {word} */" in line}
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        table = folder / "vain.atomicity"
        table.write_text("atomicity 1\nprogram vain\nsection A-00000001 shared.value\n"
                         f"  entry W shared.value unit vain.c:{place['entry']}:0\n"
                         f"  end W shared.value unit vain.c:{place['end']}:0 allow none\n")
        for words in ([], [f"--heal={table}"]):
            built = run([atomsan, "cc", *words, "-g", "-O2", "-pthread", source, "-o", folder / ("field" if words else "tested")])
            if built.returncode or built.stderr:
                fail(f"it does not build: {built.stderr}")
        said = run([atomsan, "heal", "--json", "--no-store", f"--repository={table}", "--", folder / "tested", ROUNDS])
        if said.returncode:
            fail(f"tested: status {said.returncode}: {said.stdout}{said.stderr}")
        section = json.loads(said.stdout[said.stdout.index("{"):])["sections"][0]
        judge("tested", section["timeouts"], section["cut_short"])
        said = run([folder / "field", ROUNDS], env=dict(os.environ, ATOMSAN_OPTIONS="verbosity=1"))
        counts = re.search(r"too late (\d+), cut short (\d+)", said.stderr)
        if said.returncode or not counts:
            fail(f"for the field: status {said.returncode}: {said.stdout}{said.stderr}")
        judge("for the field", int(counts[1]), int(counts[2]))
        # Who is held up for moments only is not so for ever, either.
        with table.open("a") as file:
            file.write("  heal schedule\n")
        said = run([atomsan, "heal", "--json", "--no-store", f"--repository={table}", "--", folder / "tested", MOMENTS])
        if said.returncode:
            fail(f"by scheduling: status {said.returncode}: {said.stdout}{said.stderr}")
        section = json.loads(said.stdout[said.stdout.index("{"):])["sections"][0]
        if not section["scheduled"] or not section["cut_short"] or section["timeouts"]:
            fail(f"by scheduling: {section}")
    print(f"{ROUNDS} waits in vain, two forms: all but a few were cut short")


main()
