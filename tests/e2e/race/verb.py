#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""verb.py ATOMSAN CORPUS: atomsan race and what stands around it, on programs with races of the corpus."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

wrong = []


def expect(condition, sentence):
    if not condition:
        wrong.append(sentence)


def run(*command, **more):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, timeout=200, check=False, **more)


def document(*command):
    done = run(*command)
    expect(done.returncode in (0, 66), f"{command}: {done.returncode} {done.stderr}")
    return json.loads(done.stdout)


def variables(said):
    return {name for finding in said["findings"] for name in finding["variables"]}


def aimed(atomsan, corpus):
    """With noise at what is suspected, each race is found, and nothing else."""
    for name in ("bank", "crawler", "echo", "lottery"):
        expected = json.loads((corpus / "wrong" / name / "expected.json").read_text())["race"]
        build = run(atomsan, "cc", "-O2", "-g", "-pthread", corpus / "wrong" / name / f"{name}.c", "-o", name)
        expect(build.returncode == 0, build.stderr)
        noise = [f"--noise=var:{variable}:400" for variable in expected]
        found = set()
        for seed in range(1, 20):
            said = document(atomsan, "race", "--json", "--no-store", "--runs=3", f"--seed={seed * 10}", *noise, "--",
                            f"./{name}")
            found |= variables(said)
            expect(variables(said) <= set(expected), f"{name}: {variables(said)} are not in {expected}")
            counts = said["counts"]
            expect(counts["runs"] == 3 and counts["races"] >= counts["runs-with-races"], f"{name}: {counts}")
            expect(sum(finding["seen"] for finding in said["findings"]) == counts["races"], f"{name}: {counts}")
            if found:
                break
        expect(found, f"{name}: no race was found")


def stored(atomsan):
    """What one run finds is where the next one makes noise."""
    for seed in range(1, 20):
        done = run(atomsan, "race", "--db=races.db", "--noise=random:100", f"--seed={seed}", "--", "./bank")
        if done.returncode == 66:
            break
    expect(done.returncode == 66 and "bank_total" in done.stdout and "Data race, observed" in done.stdout,
           f"bank: {done.returncode} {done.stdout} {done.stderr}")
    expect(re.search(r"^seed \d+, 1 run, 1 with races", done.stdout, re.M), f"the seed is said: {done.stdout}")
    said = document(atomsan, "race", "--json", "--db=races.db", "--noise=findings:300", "--runs=2", "--", "./bank")
    counts = said["counts"]
    expect(counts["noise-decisions"] > 100 and counts["noise-strikes"] > 0, f"noise at findings: {counts}")
    listed = run(atomsan, "list", "--db=races.db")
    expect("bank_total" in listed.stdout, f"list: {listed.stdout} {listed.stderr}")


def by_hand():
    for seed in range(1, 20):
        done = run("./bank", env=dict(os.environ, ATOMSAN_OPTIONS=f"race=1:noise=random,100:seed={seed}"))
        if done.returncode == 66:
            break
    expect(done.returncode == 66, f"by hand: {done.returncode}")
    expect("data race on bank_total" in done.stderr and "bank.c:" in done.stderr and "T" in done.stderr,
           f"by hand: {done.stderr}")
    done = run("./bank", env=dict(os.environ, ATOMSAN_OPTIONS=f"race=1:noise=random,100:seed={seed}:exitcode=0"))
    expect(done.returncode in (0, 1), f"exitcode=0 leaves the program's status: {done.returncode}")


def mistakes(atomsan):
    for words, sentence in ((["--", "/bin/true"], "built with"), ([], "which program"), (["--runs=0", "--", "./bank"], "--runs"),
                            (["--seed=x", "--", "./bank"], "--seed"), (["--", "./there-is-none"], "there-is-none"),
                            (["--noise-budget=much", "--", "./bank"], "percents")):
        done = run(atomsan, "race", "--no-store", *words)
        expect(done.returncode == 1 and sentence in done.stderr, f"{words}: {done.returncode} {done.stderr}")


def main():
    atomsan, corpus = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        aimed(atomsan, corpus)
        stored(atomsan)
        by_hand()
        mistakes(atomsan)
        os.chdir("/")
    sys.exit("\n".join(wrong) if wrong else 0)


main()
