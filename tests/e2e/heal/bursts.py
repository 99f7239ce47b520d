#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bursts.py ATOMSAN BURSTS.C: a gate that goes from thread to thread, kept and taken away, keeps every section whole.

The sections are those of an inner loop, so that owners come again and again without asking anybody. No sum may be
wrong, and threads must have been in each other's way.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

RUNS = 6


def run(*words, **more):
    return subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, timeout=120, check=False, **more)


def calls(program, function, callee):
    code = run("objdump", "-d", "--no-show-raw-insn", program).stdout
    return callee in re.search(rf"^[0-9a-f]+ <{function}>:$.*?^$", code, re.M | re.S)[0]


def main():
    atomsan, source = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    lines = source.read_text().splitlines()
    entry, end, local = (1 + next(i for i, line in enumerate(lines) if f"/* {what} */" in line)
                         for what in ("entry", "end", "local"))
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        (work / "table").write_text(f"atomicity 1\nsection A-1 sum.value\n  entry R sum.value add {source.name}:{entry}:0\n"
                                    f"  end W sum.value add {source.name}:{end}:0\n  unit add {source.name}\n"
                                    f"section A-2 sum.value\n  entry R sum.value add_local {source.name}:{local}:0\n"
                                    f"  end W sum.value add_local {source.name}:{local}:0\n")
        for words, name in (([f"--heal={work / 'table'}"], "field"), ([], "tested")):
            built = run(atomsan, "cc", *words, "-g", "-O2", "-pthread", source, "-o", work / name)
            if built.returncode or built.stderr:
                sys.exit(f"it does not build: {built.stderr}")
        for function, wanted in (("add", True), ("add_local", False)):
            if calls(work / "field", function, "__atomsan_heal_enter") != wanted:
                sys.exit(f"{function}: the unit's begin is {'not ' if wanted else ''}told of")
            if not calls(work / "field", function, "__atomsan_heal_before"):
                sys.exit(f"{function}: is not healed")
        healed = 0
        for number in range(RUNS):
            done = run(work / "field", env=dict(os.environ, ATOMSAN_OPTIONS="verbosity=1"))
            told = re.findall(r"entered (\d+) times, healed (\d+), by scheduling (\d+), too late (\d+)", done.stderr)
            if done.returncode or not told:
                sys.exit(f"run {number}: status {done.returncode}: {done.stdout}{done.stderr}")
            entered, waited, scheduled, late = (sum(map(int, column)) for column in zip(*told))
            if entered != 180000 or scheduled or late:
                sys.exit(f"run {number}: {done.stderr}")
            healed += waited
        if not healed:
            sys.exit("nobody was ever in anybody's way")
        done = run(atomsan, "heal", "--no-store", f"--repository={work / 'table'}", "--", work / "tested", "500")
        if done.returncode:
            sys.exit(f"tested: status {done.returncode}: {done.stdout}{done.stderr}")
    print(f"{RUNS} runs, {healed} times somebody was kept out")


main()
