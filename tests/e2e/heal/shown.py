#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""shown.py ATOMSAN BACKOFF REFS: what is healed when a finding shows less than it might.

Of backoff.c a failing run is known, and no unit. Of refs.cc the static side knows the unit, and the accesses stand in
functions that were inlined there.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

RUNS = 15
PATIENT = "heal_timeout=20000"  # so that a machine that has other things to do is not taken for a circle


def fail(text):
    sys.exit(f"shown.py: {text}")


def failures(program, options):
    count = 0
    for seed in range(1, RUNS + 1):
        done = subprocess.run([str(program)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=120,
                              env=dict(os.environ, ATOMSAN_OPTIONS=f"noise=random,100,sleep,200:seed={seed}:{options}"), check=False)
        if done.returncode not in (0, 1):
            fail(f"{program} ended with {done.returncode}: {done.stderr.decode()}")
        count += done.returncode
    return count


def main():
    atomsan = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as scratch:
        for source, finds, unit in ((sys.argv[2], ["explore", "--budget=20", "--seed=3", "--"], "transfer"),
                                    (sys.argv[3], ["lint"], "acquire")):
            program = pathlib.Path(scratch) / pathlib.Path(source).stem
            compiler = ["c++", "-std=c++17"] if source.endswith(".cc") else ["cc"]
            subprocess.run([atomsan, *compiler, "-g", "-O2", "-pthread", source, "-o", program], check=True)
            if not failures(program, ""):
                fail(f"{program.name} does not fail, so there is nothing to be seen")
            found = subprocess.run([atomsan, *finds, program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   timeout=300, check=False)
            if found.returncode != 66:
                fail(f"{program.name}: {finds[0]} found nothing: {found.stdout}")
            healed = subprocess.run([atomsan, "heal", "--from-findings", "--", program], stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True, timeout=120, check=False)
            table = program.with_name(program.name + ".atomicity")
            if not table.exists():
                fail(f"{program.name}: nothing was made of what {finds[0]} found: {healed.stderr}")
            if f"unit {unit} " not in table.read_text():
                fail(f"{program.name}: no section of {unit}: {table.read_text()}")
            broken = failures(program, f"heal=1:repository={table}:{PATIENT}")
            if broken:
                fail(f"{program.name} failed {broken} times of {RUNS}, healed")


main()
