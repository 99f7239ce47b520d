#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run.py right|wrong ATOMSAN CLANG SOURCES OPTIMISATION: races are reported where there are some, and only there.

The programs say which modes they have. right: no mode may be reported under strong noise of any kind, nor
without noise. wrong: each mode must be, with the variable and the kinds of accesses that the program says.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

NOISES = ([], ["--noise=random:200:sleep:40"], ["--noise=random:600:yield"], ["--noise=random:100:busy:20"])
TRIES = 12


def race(atomsan, program, mode, *options):
    done = subprocess.run([atomsan, "race", "--json", "--no-store", "--timeout=60", *options, "--", program, mode],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, check=False)
    said = json.loads(done.stdout or "{}")
    if done.returncode != (66 if said.get("findings") else 0):
        sys.exit(f"{mode}: status {done.returncode} with {len(said.get('findings', ()))} findings: {done.stderr}")
    return said


def modes_of(program):
    return subprocess.run([program], check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout.splitlines()


def right(atomsan, program):
    wrong = []
    watched = 0
    for mode in modes_of(program):
        for noise in NOISES:
            said = race(atomsan, program, mode, "--seed=7", *noise)
            watched += said["counts"]["watchpoints"]
            if said["findings"]:
                wrong.append(f"{mode} {noise}: {json.dumps(said['findings'], indent=1)}")
            if said["counts"]["runs-that-failed"]:
                wrong.append(f"{mode} {noise}: the program failed")
    if not watched:
        wrong.append("nothing was watched")
    return wrong


def like(finding, variable, pattern):
    """Which of the two comes first is up to the machine."""
    if not any(re.split(r"[.\[]", name)[0] == variable for name in finding["variables"]):
        return False
    return pattern == "*" or sorted(finding["pattern"]) == sorted(pattern)


def wrong_ones(atomsan, program):
    wrong = []
    for line in modes_of(program):
        mode, variable, pattern = line.split()
        for seed in range(1, TRIES):
            said = race(atomsan, program, mode, f"--seed={seed}", "--noise=random:100:sleep:50")
            if any(like(finding, variable, pattern) for finding in said["findings"]):
                break
        else:
            wrong.append(f"{mode}: no race {pattern} on {variable}: {json.dumps(said, indent=1)}")
        wrong += [f"{mode}: is no race: {finding['title']}" for finding in said["findings"]
                  if not like(finding, variable, "*") or finding["kind"] != "race"]
        for finding in said["findings"]:
            unseen = [access for access in finding["accesses"] if not access["function"]]
            if bool(unseen) and mode != "outside" and pattern != "*":
                # Somebody may have been under way when the window opened; never both.
                if len(unseen) == len(finding["accesses"]):
                    wrong.append(f"{mode}: nobody was seen")
            if mode == "outside" and not unseen:
                wrong.append(f"{mode}: who writes cannot have been seen")
    return wrong


def main():
    kind, atomsan, clang, folder, optimisation = sys.argv[1:]
    folder = pathlib.Path(folder)
    with tempfile.TemporaryDirectory() as work:
        program = str(pathlib.Path(work) / kind)
        objects = []
        if kind == "wrong":
            objects = [str(pathlib.Path(work) / "outside.o")]
            subprocess.run([clang, "-O2", "-c", folder / "outside.c", "-o", objects[0]], check=True)
        subprocess.run([atomsan, "cc", optimisation, "-g", "-pthread", folder / f"{kind}.c", *objects, "-o", program],
                       check=True)
        found = (right if kind == "right" else wrong_ones)(atomsan, program)
    sys.exit("\n".join(found) if found else 0)


main()
