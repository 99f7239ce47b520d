#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""stress.py ATOMSAN PROGRAM.c: record a program that counts what it does; the trace must have counted the same.

Its output has a line for each kind of event: the kind and how many there must be. "write" counts the
writes of different places, which no filter leaves out.
"""
import json
import os
import subprocess
import sys
import tempfile


def main():
    atomsan, source = (os.path.abspath(word) for word in sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        program, trace = os.path.join(folder, "program"), os.path.join(folder, "t.atr")
        subprocess.run([atomsan, "cc", "-g", "-O2", "-pthread", source, "-o", program], check=True)
        output = subprocess.run([atomsan, "record", "-o", trace, "--", program], check=True,
                                stdout=subprocess.PIPE).stdout.decode()
        text = subprocess.run([atomsan, "dump", "--stats", "--json", trace], check=True,
                              stdout=subprocess.PIPE).stdout
    document = json.loads(text)
    counts = document["counts"]
    wanted = {kind: int(number) for kind, number in (line.split() for line in output.splitlines())}
    wrong = [f"{kind}: the program did {number}, the trace has {counts['ops'].get(kind, counts['kinds'].get(kind))}"
             for kind, number in wanted.items()
             if number != counts["ops"].get(kind, counts["kinds"].get(kind))]
    dropped = [spot for spot in document["blind_spots"] if spot["name"] in ("dropped", "unknown-thread", "missing")]
    if wrong or dropped or not wanted:
        sys.exit(f"stress.py: {'; '.join(wrong)} {dropped} of {counts}")
    if counts["events"] < sum(wanted.values()):
        sys.exit(f"stress.py: {counts['events']} events in all, less than the sum of {wanted}")


main()
