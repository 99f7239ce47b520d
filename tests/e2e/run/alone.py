# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""alone.py ATOMSAN CORPUS SOURCE: what one thread did alone is not told, and nothing is missed for that.

The program is checked with everything told and as usual: the same is found, of objects with the same names, and
far fewer events are read.
"""
import json
import os
import subprocess
import sys
import tempfile


def found(atomsan, program, *options):
    ran = subprocess.run([atomsan, "run", "--json", "--no-store", *options, "--", program], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True, timeout=120)
    document = json.loads(ran.stdout[ran.stdout.index('{\n "version"'):])
    return ran.returncode, [(f["id"], f["title"]) for f in document["findings"]], document["counts"]["events"]


def main():
    atomsan, corpus, source = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3]
    with tempfile.TemporaryDirectory() as folder:
        for level in ("-O0", "-O2"):
            program = os.path.join(folder, "program")
            subprocess.run([atomsan, "cc", level, "-g", "-pthread", "-DSTAGED", f"-I{corpus}", source, "-o", program],
                           check=True)
            all_told, usual = found(atomsan, program, "--all-calls"), found(atomsan, program)
            if all_told[:2] != usual[:2] or len(usual[1]) != 1 or "deposit" not in usual[1][0][1] or usual[0] != 66:
                sys.exit(f"{level}: with all calls told {all_told}, else {usual}")
            if usual[2] * 4 > all_told[2]:
                sys.exit(f"{level}: {usual[2]} of {all_told[2]} events were told")
            print(f"{level}: {usual[1]}, {usual[2]} of {all_told[2]} events told")


main()
