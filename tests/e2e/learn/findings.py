#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""findings.py ATOMSAN CORPUS NAME...: what checkers found becomes sections, and whoever watches them finds it again.

The programs break in units that no pattern of the code shows: their accesses lie in several functions, or on two
variables.
"""
import json
import pathlib
import subprocess
import sys
import tempfile


def run(*command, statuses=(0,), **settings):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, timeout=120, **settings)
    assert done.returncode in statuses, (command, done)
    return done


def main():
    atomsan, corpus = sys.argv[1], pathlib.Path(sys.argv[2])
    for name in sys.argv[3:]:
        with tempfile.TemporaryDirectory() as folder:
            program, trace = pathlib.Path(folder) / name, pathlib.Path(folder) / "trace"
            run(atomsan, "cc", "-g", "-O1", "-pthread", "-DSTAGED", corpus / "wrong" / name / f"{name}.c", "-o", program)
            run(atomsan, "record", "-o", trace, "--", program, statuses=(0, 1))
            checked = json.loads(run(atomsan, "check", "--json", trace, statuses=(66,)).stdout)
            done = json.loads(run(atomsan, "learn", "--from-findings", "--json", "--", program).stdout)
            assert done["from_findings"] and done["runs"] == 0, done
            text = pathlib.Path(done["repository"]).read_text()
            ids = {f["id"] for f in checked["findings"]}
            assert any(f"from finding {i} observed" in text for i in ids), (ids, text)
            watched = json.loads(run(atomsan, "race", "--json", "--no-store", "--noise=random:0", f"--repository={done['repository']}",
                                     "--", program, statuses=(66,)).stdout)
            found = [f for f in watched["findings"] if f["kind"] == "atomicity"]
            assert any("finding" in f["units"][0]["why"] for f in found), (name, watched)
            assert ids & {f["id"] for f in found}, (name, ids, watched)


main()
