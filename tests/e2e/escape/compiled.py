#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compiled.py ATOMSAN SOURCE: which accesses the pass leaves out for being private, by the comments of the source."""
import pathlib
import re
import subprocess
import sys
import tempfile

atomsan, source = sys.argv[1:]
compiler = "c++" if source.endswith(".cc") else "cc"
name = re.escape(pathlib.Path(source).name)
private, written, seen = set(), set(), {}
for number, line in enumerate(pathlib.Path(source).read_text().splitlines(), 1):
    if "/* private */" in line:
        private.add(number)
    found = re.search(r"/\* (seen|written): (\w+) \*/", line)
    if found:
        seen[number] = found[2]
        if found[1] == "written":
            written.add(number)
assert len(private) > 4 and len(seen) > 4
failed = False
with tempfile.TemporaryDirectory() as folder:
    for level in ("-O0", "-O1", "-O2"):
        subprocess.run([atomsan, compiler, level, "-g", "-pthread", source, "-o", f"{folder}/program"], check=True)
        subprocess.run([atomsan, "record", "--all", "-o", f"{folder}/t.atr", "--", f"{folder}/program"], check=True, stdout=subprocess.DEVNULL)
        dump = subprocess.run([atomsan, "dump", f"{folder}/t.atr"], check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout
        places = {(int(line), word) for word, line in re.findall(rf"\b(read|write|update)\b.*{name}:(\d+):", dump)}
        lines = {line for line, _ in places}
        for function in sorted(set(re.findall(r"\benter\b.* in (\S+) .*/include/c\+\+/", dump))):
            print(f"{level}: {function} of the C++ library has a frame")
            failed = True
        for number in sorted(seen):
            kinds = ("write", "update") if number in written else ("read", "write", "update")
            if not any((number, kind) in places for kind in kinds):
                print(f"{level}: line {number}, in {seen[number]}, is not in the trace")
                failed = True
        # Without the optimiser nobody has looked which functions keep their parameters.
        for number in sorted(private & lines) if level != "-O0" else ():
            print(f"{level}: line {number} is in the trace, though nobody else can reach it")
            failed = True
sys.exit(failed)
