# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""entire.py ATOMSAN SOURCE: long calls that are one unit are taken back as they go on, and nothing is missed for that.

Each mode is checked with everything told and as usual: the same is found. In the usual run a call must have been
silent, and where somebody comes to what it did, spoken for. Whether the checker has seen in time that it is one unit
is a matter of time, so a run in which it has not is made again.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

# mode, what is found, whether somebody has to speak
MODES = [("broken", "ledger_close", True), ("written", "ledger_close", True), ("lent", None, True),
         ("apart", None, False), ("inner", "account_move", False)]
TRIES = 5


def found(atomsan, program, mode, *options):
    ran = subprocess.run([atomsan, "run", "--json", "--no-store", *options, "--", program, mode],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120,
                         env=dict(os.environ, ATOMSAN_OPTIONS="verbosity=1"))
    document = json.loads(ran.stdout[ran.stdout.index('{\n "version"'):])
    said = re.search(r"(\d+) were silent and spoken for (\d+) times", ran.stderr)
    if not said:
        sys.exit(f"{mode}: not said how many calls were silent\n{ran.stderr}")
    return (ran.returncode, [(f["id"], f["title"]) for f in document["findings"]], document["counts"]["events"],
            int(said.group(1)), int(said.group(2)))


def usual_run(atomsan, program, mode, speaks):
    for _ in range(TRIES):
        usual = found(atomsan, program, mode)
        if usual[3] and (usual[4] or not speaks):
            return usual
    sys.exit(f"{mode}: no call was silent, or nobody spoke for it: {usual}")


def main():
    atomsan, source = os.path.abspath(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program")
        for level in ("-O0", "-O2"):
            subprocess.run([atomsan, "cc", level, "-g", "-pthread", source, "-o", program], check=True)
            for mode, function, speaks in MODES:
                everything = found(atomsan, program, mode, "--all-calls")
                usual = usual_run(atomsan, program, mode, speaks)
                if everything[:2] != usual[:2] or len(usual[1]) != (function is not None) or \
                        (function and function not in usual[1][0][1]) or everything[3]:
                    sys.exit(f"{level} {mode}: with all calls told {everything}, else {usual}")
                if usual[2] * 4 > everything[2]:
                    sys.exit(f"{level} {mode}: {usual[2]} of {everything[2]} events were told")
                print(f"{level} {mode}: {usual[1]}, {usual[2]} of {everything[2]} events told")


main()
