# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""guards.py ATOMSAN guards.cc: compiled code looks at a static local's guard and calls only if it is not done yet.

So whoever called has looked before the end of the initialisation, and whoever did not, after it."""
import json
import os
import subprocess
import sys
import tempfile


def main():
    atomsan, source = os.path.abspath(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        program, trace = os.path.join(folder, "guards"), os.path.join(folder, "guards.atr")
        subprocess.run([atomsan, "c++", "-std=c++17", "-O1", "-pthread", source, "-o", program], check=True)
        late = 0
        for _ in range(5):
            subprocess.run([atomsan, "record", "-o", trace, "--", program], check=True)
            dump = subprocess.run([atomsan, "dump", "--json", trace], check=True, capture_output=True, text=True)
            late += look(json.loads(dump.stdout)["events"])
    if not late:
        sys.exit("nobody ever came to a guard that was busy")
    print(f"{late} times a thread looked while another was at work")


def look(events):
    """How often somebody else had begun; dies where the order cannot be."""
    looked = {}  # (thread, guard) -> was it done then?
    done, begun, late = set(), set(), 0
    for e in events:
        thread, kind = e["thread"], e["event"]
        guard = e.get("address") or e.get("object")
        if kind == "atomic-load":
            looked[thread, guard] = guard in done
            late += guard in begun and guard not in done
        elif kind in ("once-begin", "once-seen"):
            if looked.pop((thread, guard)):
                sys.exit(f"{thread} looked at {guard} after it was done, and called")
            begun.add(guard)
        elif kind == "once-end":
            done.add(guard)
    for (thread, guard), was in looked.items():
        if not was:
            sys.exit(f"{thread} looked at {guard} before it was done, and did not call")
    if len(done) != 400:
        sys.exit(f"{len(done)} of 400 guards were done")
    return late


if __name__ == "__main__":
    main()
