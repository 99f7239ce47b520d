# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""unmet.py ATOMSAN SEQUENCE UNMET mixed.c [RUNS]: calls that nobody met are on no cycle.

Runs the program, which does right things and, now and then, wrong ones, with calls that nobody met marked instead
of taken back, and has UNMET check each trace with and without them: the same is found. There must be
marked calls, and findings, or this shows nothing. Then they are taken back, and what is wrong is still found.
"""
import os
import re
import subprocess
import sys
import tempfile


def main():
    atomsan, sequence, unmet = (os.path.abspath(path) for path in sys.argv[1:4])
    source, runs = sys.argv[4], int(sys.argv[5]) if len(sys.argv) > 5 else 6
    total = [0] * 5
    with tempfile.TemporaryDirectory() as folder:
        program, trace = os.path.join(folder, "program"), os.path.join(folder, "kept.atr")
        subprocess.run([atomsan, "cc", "-O1", "-g", "-pthread", source, "-o", program], check=True)
        for seed in range(runs):
            sums = os.path.join(folder, f"sums{seed}")
            os.mkdir(sums)
            environment = dict(os.environ, SEQUENCE=sums,
                               ATOMSAN_OPTIONS=f"check=1:checker={sequence}:record={trace}:mark_calls=1")
            subprocess.run([program, str(seed), str((30, 300, 3000)[seed % 3])], check=True, env=environment,
                           stdout=subprocess.DEVNULL)
            told = subprocess.run([unmet, trace], stdout=subprocess.PIPE, text=True)
            print(f"seed {seed}: {told.stdout.strip()}")
            if told.returncode:
                sys.exit(f"seed {seed}: not the same")
            total = [a + int(b) for a, b in zip(total, told.stdout.split())]
            os.unlink(trace)
        ran = subprocess.run([atomsan, "run", "--no-store", "--verbose", "--", program, "1", "30"], stderr=subprocess.PIPE,
                             stdout=subprocess.DEVNULL, text=True)
        left, calls = (int(n) for n in re.search(r"(\d+) of (\d+) calls met nobody", ran.stderr).groups())
        if ran.returncode != 66 or "increment is not atomic" not in ran.stderr or not left:
            sys.exit(f"status {ran.returncode}, {left} of {calls} calls left out: {ran.stderr}")
        print(f"{left} of {calls} calls left out, and it is found")
    marks, left_out, events, one, usual = total
    if marks < 1000 or left_out * 10 < events or not one or not usual:
        sys.exit(f"too little to show: {marks} calls, {left_out} of {events} events, {one} and {usual} findings")


main()
