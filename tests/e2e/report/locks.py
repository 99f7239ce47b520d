#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""locks.py ATOMSAN CORPUS NAME...: an interleaving that is told could happen, as far as its locks go. In what check
observed and predict foretells, nobody takes a lock that another has, nobody gives up what he has not, and at each
access exactly those locks are held of which it says so. And a finding points at the function that its title is about."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

atomsan, corpus, names = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:]
for name in ("ATOMSAN_DB", "ATOMSAN_OPTIONS"):
    os.environ.pop(name, None)


def run(*words, ok=(0,)):
    done = subprocess.run([atomsan, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                          check=False)
    if done.returncode not in ok:
        sys.exit(f"atomsan {words}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def problem(finding):
    owner = {}
    for number, access in enumerate(finding["accesses"], 1):
        thread, lock = access["thread"], access["variable"]
        where = f"step {number}, {access['op']} {lock} of {thread}"
        if access["op"] == "L":
            if lock in owner:
                return f"{where}: {owner[lock]} has it"
            owner[lock] = thread
        elif access["op"] == "A":
            if owner.pop(lock, None) != thread:
                return f"{where}: he has not got it"
        else:
            held = {lock for lock, who in owner.items() if who == thread}
            if held != set(access["locks"]):
                return f"{where}: holds {access['locks']}, after {held} were taken"
    title, first = finding["title"], finding["units"][0]["function"]
    if first not in title.split(" is not atomic")[0].split():
        return f"'{title}' points at {first}"
    return None


told = locks = 0
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for name in names:
        program = f"./{name}"
        run("cc", "-g", "-O1", "-pthread", "-DSTAGED", corpus / "wrong" / name / f"{name}.c", "-o", program)
        run("record", "-o", "t.atr", "--", program, ok=range(256))
        for verb in ("check", "predict"):
            for finding in json.loads(run(verb, "--json", "--no-store", "t.atr", ok=(0, 66)))["findings"]:
                wrong = problem(finding)
                if wrong:
                    sys.exit(f"{verb} of {name}, {finding['id']}: {wrong}\n" + "\n".join(
                        f"  {a['thread']} {a['op']} {a['variable']} {a['locks']}" for a in finding["accesses"]))
                told += 1
                locks += sum(a["op"] in "LA" for a in finding["accesses"])
print(f"{told} findings, {locks} lock operations")
if told < len(names) or locks < 3 * told:
    sys.exit(f"{told} findings with {locks} lock operations are too few to say anything")
