# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""same.py ATOMSAN CORPUS PROGRAM...: `run` finds what `check` finds in the trace that it keeps.

The programs are those of CORPUS/wrong, staged so that one run shows the violation. What is compared is which
findings there are, and what was seen of the run. Which of several interleavings a finding tells may differ: the
order of what does not conflict does.
"""
import json
import os
import subprocess
import sys
import tempfile

# Not what depends on when units were forgotten, for the same reason.
COUNTS = ("events", "accesses", "threads", "units")


def essence(document):
    return sorted(f["id"] for f in document["findings"]), {name: document["counts"][name] for name in COUNTS if name in document["counts"]}


def alike(live, kept):
    """A loop is a worker's from the first lock on that is taken in it. Whether a thread's first iteration comes before another
    thread's lock is nobody's order, so each may have a unit more."""
    (found, counts), (found_kept, counts_kept) = live, kept
    off = abs(counts["units"] - counts_kept["units"])
    return found == found_kept and off <= counts["threads"] and {**counts, "units": 0} == {**counts_kept, "units": 0}


def tool(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)


def main():
    atomsan, corpus = os.path.abspath(sys.argv[1]), sys.argv[2]
    found = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[3:]:
            program, trace = os.path.join(folder, name), os.path.join(folder, name + ".atr")
            tool(atomsan, "cc", "-O1", "-g", "-pthread", "-DSTAGED", f"-I{corpus}",
                 f"{corpus}/wrong/{name}/{name}.c", "-o", program)
            ran = tool(atomsan, "run", "--json", "--no-store", f"--keep-trace={trace}", "--", program)
            checked = tool(atomsan, "check", "--json", "--no-store", trace)
            # The program's own output comes first.
            live = essence(json.loads(ran.stdout[ran.stdout.index('{\n "version"'):]))
            kept = essence(json.loads(checked.stdout))
            if not alike(live, kept):
                sys.exit(f"{name}: while it ran {live}, in its trace {kept}")
            for finding in live[0]:
                if finding not in ran.stderr:
                    sys.exit(f"{name}: {finding} was not printed when it was found")
            if (ran.returncode == 66) != bool(live[0]):
                sys.exit(f"{name}: exit status {ran.returncode} with {live[0]}")
            found += len(live[0])
    if found < 2:
        sys.exit(f"only {found} findings")
    print(f"{found} findings in {len(sys.argv) - 3} programs")


main()
