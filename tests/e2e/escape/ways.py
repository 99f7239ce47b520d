#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ways.py ATOMSAN SOURCE: private places are where the sources say, and nowhere else they say.

Built at several levels of optimisation, and with names of files below and not below the folder of the compilation.
With the places the checker must leave something out, which shows that names of files agree with those of traces.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

FUNCTION = r'(?:"[^"]*"|\S+)'


def run(*words, statuses=(0,), folder=None):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          cwd=folder, timeout=100, check=False)
    if done.returncode not in statuses:
        sys.exit(f"{words}: status {done.returncode}: {done.stderr}")
    return done.stdout


def expected(source):
    """File name and line -> must it be private?"""
    found = {}
    for path in (source, source.parent / "worker.h", source.parent / "below/tally.h"):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            says = re.search(r"/\* (not )?private", line)
            if says:
                found[path.name, number] = not says[1]
    return found


def main():
    atomsan = pathlib.Path(sys.argv[1]).resolve()
    source = pathlib.Path(sys.argv[2]).resolve()
    want = expected(source)
    if len(set(want.values())) != 2:
        sys.exit(f"{source} does not say what is private and what is not")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for level, where, given in (("-O0", source.parent, source.name), ("-O2", source.parent, source.name),
                                    ("-O2", folder, source), ("-O1", pathlib.Path("/"), source)):
            case = f"{level} {given} in {where}"
            run(atomsan, "cc", level, "-g", "-pthread", given, "-o", folder / "ways", folder=where)
            run(atomsan, "lint", f"--private={folder / 'private'}", folder / "ways", statuses=(0, 66))
            got = set()
            for line in (folder / "private").read_text().splitlines():
                place = re.fullmatch(rf"private (?:.*/)?([^/]+):(\d+):(\d+) {FUNCTION}", line)
                if place:
                    got.add((place[1], int(place[2])))
                elif not line.startswith("#"):
                    sys.exit(f"{case}: not a statement: {line}")
            for place, private in want.items():
                if private != (place in got):
                    sys.exit(f"{case}: {place[0]}:{place[1]} should {'' if private else 'not '}be private")
            run(atomsan, "record", "-o", folder / "trace", folder / "ways")
            says = [json.loads(run(atomsan, "check", "--json", "--no-store", *more, folder / "trace", statuses=(0, 66)))
                    for more in ([], [f"--spec={folder / 'private'}"])]
            without, less = (said["counts"] for said in says)
            left_out = less.get("accesses to private data left out", 0)
            if not left_out or less["accesses"] + left_out != without["accesses"]:
                sys.exit(f"{case}: of {without['accesses']} accesses {left_out} left out, {less['accesses']} there")
            without, less = (sorted(finding["id"] for finding in said["findings"]) for said in says)
            if without != less:
                sys.exit(f"{case}: not the same findings: {without}, with private places {less}")
            run(atomsan, "run", "--no-store", f"--spec={folder / 'private'}", f"--report={folder / 'run.json'}", "--",
                folder / "ways", statuses=(0, 66))
            said = json.loads((folder / "run.json").read_text())
            if not said["counts"].get("accesses to private data left out"):
                sys.exit(f"{case}: run leaves nothing out")


main()
