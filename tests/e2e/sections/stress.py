#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""stress.py ATOMSAN SOURCE: a correct program that is in and out of sections all the time goes on as if nothing were."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def run(*command, **settings):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, timeout=250, **settings)
    assert done.returncode == 0, (command, done)
    return done


def main():
    atomsan, source = sys.argv[1], sys.argv[2]
    with tempfile.TemporaryDirectory() as name:
        program = pathlib.Path(name) / "stress"
        repository = f"{program}.atomicity"
        run(atomsan, "cc", "-g", "-O2", "-pthread", source, "-o", program)
        run(atomsan, "lint", "--no-store", f"--repository={repository}", program)
        run(atomsan, "learn", "--runs=1", "--timeout=120", "--", program)
        for more in ("", ":noise=random,2,yield", ":race=1", f":record={name}/trace"):
            done = run(program, env=dict(os.environ, ATOMSAN_OPTIONS=f"repository={repository}:sections=all:verbosity=1{more}"))
            found = re.search(r"(\d+) of (\d+) sections of", done.stderr)
            assert found and int(found[1]) >= 3 and found[1] == found[2], done
            assert "violation" not in done.stderr, (more, done)


main()
