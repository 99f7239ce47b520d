#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""parts.py ATOMSAN SOURCE: how often accesses are told of, held against the source's comments.

    //@ N   the accesses on this line, but for those of `seen`, are N events of a trace; with --all there are more of some

Unoptimised, for an optimiser would leave some of them out by itself.
"""
import json
import os
import re
import subprocess
import sys
import tempfile


def main():
    atomsan, source = sys.argv[1:]
    wanted = {n: int(m[1]) for n, line in enumerate(open(source), 1) if (m := re.search(r"//@ (\d+)$", line))}
    counts = {}
    with tempfile.TemporaryDirectory() as folder:
        program, trace = os.path.join(folder, "program"), os.path.join(folder, "program.atr")
        subprocess.run([atomsan, "cc", "-O0", "-pthread", source, "-o", program], check=True)
        for options in ([], ["--all"]):
            subprocess.run([atomsan, "record", *options, "-o", trace, "--", program], check=True, stdout=subprocess.DEVNULL)
            dump = subprocess.run([atomsan, "dump", "--json", trace], check=True, stdout=subprocess.PIPE)
            found = dict.fromkeys(wanted, 0)
            for event in json.loads(dump.stdout)["events"]:
                if event["event"] in ("read", "write", "update") and event.get("line") in found and event.get("variable") != "seen":
                    found[event["line"]] += 1
            counts[len(options)] = found
    wrong = [f"line {n}: {counts[0][n]} events, not {count}" for n, count in wanted.items() if counts[0][n] != count]
    wrong += [f"line {n}: never accessed" for n in wanted if not counts[1][n]]
    if sum(counts[1].values()) < 2 * sum(counts[0].values()):
        wrong.append(f"{counts[1]} with --all, hardly more")
    if wrong:
        sys.exit(f"{source}:\n" + "\n".join(wrong))


main()
