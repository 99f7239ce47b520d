#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""corpus.py ATOMSAN CORPUS RUNS wrong NAME... right NAME...: programs with the sections that their code suggests and
their own runs teach, under noise. What is wrong is found, by patterns of the code alone; what is right is not told off.
"""
import fnmatch
import json
import pathlib
import subprocess
import sys
import tempfile

MOST = 60  # runs until a violation must have shown


def run(*command, statuses=(0,)):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, timeout=300)
    assert done.returncode in statuses, (command, done)
    return done.stdout


def watch(atomsan, program, repository, runs, seed, arguments, statuses):
    found = json.loads(run(atomsan, "race", "--json", "--no-store", "--noise=random:100:sleep:50", f"--runs={runs}",
                           f"--seed={seed}", f"--repository={repository}", "--", program, *arguments, statuses=statuses))
    return [f for f in found["findings"] if f["kind"] == "atomicity"]


def main():
    atomsan, corpus, runs = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
    kind, told = None, []
    for word in sys.argv[4:]:
        if word in ("wrong", "right"):
            kind = word
            continue
        folder = corpus / kind / word
        expected = json.loads((folder / "expected.json").read_text())
        arguments = expected.get("small") or (expected.get("runs") or [[]])[0]
        with tempfile.TemporaryDirectory() as name:
            program = pathlib.Path(name) / word
            repository = f"{program}.atomicity"
            run(atomsan, "cc", "-g", "-O2", "-pthread", folder / f"{word}.c", "-o", program)
            run(atomsan, "lint", "--no-store", f"--repository={repository}", program, statuses=(0, 66))
            if kind == "wrong":
                for seed in range(1, MOST):
                    found = watch(atomsan, program, repository, 1, seed, arguments, (0, 1, 66))
                    if found:
                        break
                variables = {v for f in found for v in f["variables"]}
                wanted = {v for x in expected["violations"] for v in x["on"]}
                if not any(fnmatch.fnmatchcase(v, w) for v in variables for w in wanted):
                    told.append(f"{word}: {variables or 'nothing'} instead of {wanted}")
                continue
            run(atomsan, "learn", "--runs=6", "--", program, *arguments)
            found = watch(atomsan, program, repository, runs, 1, arguments, (0, 66))
            told += [f"{word}: {f['title']}, {f['pattern']}, {f['units'][0]['why']}" for f in found]
    sys.exit("\n".join(told) if told else 0)


main()
