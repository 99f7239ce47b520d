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
    """Of programs that end with 1 when something was lost."""
    done = run(*command)
    said = json.loads(done.stdout)
    failed = said["counts"]["runs-that-failed"] != 0
    expect(done.returncode == (66 if said["findings"] else int(failed)), f"{command}: {done.returncode} {done.stderr}")
    return said


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
    expect(done.returncode == 66 and "bank_total" in done.stderr and "Data race, observed" in done.stderr,
           f"bank: {done.returncode} {done.stdout} {done.stderr}")
    expect(re.search(r"^seed \d+, 1 run, 1 with races", done.stderr, re.M), f"the seed is said: {done.stderr}")
    expect("atomsan" not in done.stdout, f"standard output is the program's: {done.stdout}")
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


ENDS = """
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **words)
{
	FILE *file = fopen("runs", "r+");
	int run = 0;
	if (file && fscanf(file, "%d", &run) == 1)
		rewind(file);
	else
		file = fopen("runs", "w");
	fprintf(file, "%d", ++run);
	fclose(file);
	printf("run %d\\n", run);
	fflush(stdout);
	if (run < count && words[run][0] == '-')
		raise(atoi(words[run] + 1));
	return run < count ? atoi(words[run]) : 0;
}
"""


def statuses(atomsan):
    """Without findings the status is that of the first run that failed; a word of the program says how a run ends."""
    pathlib.Path("ends.c").write_text(ENDS)
    built = run(atomsan, "cc", "-g", "ends.c", "-o", "ends")
    expect(built.returncode == 0, built.stderr)
    for ends, status in ((["0"], 0), (["3"], 3), (["0", "5", "3"], 5), (["-15"], -15), (["0", "-9", "2"], -9), (["-6"], -6)):
        for json_too in ([], ["--json"]):
            pathlib.Path("runs").unlink(missing_ok=True)
            done = run(atomsan, "race", "--no-store", *json_too, f"--runs={len(ends)}", "--", "./ends", *ends)
            expect(done.returncode == status, f"{ends}: status {done.returncode}, not {status}: {done.stderr}")
            lines = [f"run {number + 1}" for number in range(len(ends))]
            if json_too:
                counts = json.loads(done.stdout)["counts"]
                expect(counts["runs-that-failed"] == sum(end != "0" for end in ends), f"{ends}: {counts}")
            else:
                expect(done.stdout.splitlines() == lines, f"{ends}: {done.stdout}")
    # One that takes too long is killed, and we are not.
    pathlib.Path("sleeps.c").write_text("#include <unistd.h>\nint main(void) { sleep(100); return 0; }\n")
    run(atomsan, "cc", "sleeps.c", "-o", "sleeps")
    done = run(atomsan, "race", "--no-store", "--timeout=1", "--", "./sleeps")
    expect(done.returncode == 137, f"a run that takes too long: {done.returncode}")


def mistakes(atomsan):
    pathlib.Path("empty").touch()
    pathlib.Path("garbage").write_bytes(bytes(range(256)))
    pathlib.Path("later").write_text("atomicity 99\n")
    pathlib.Path("damaged").write_text("atomicity 1\nsection A-1 x\n  entry sideways\n")
    for name, sentence in (("empty", "empty:1:"), ("garbage", "no text"), ("later", "version"), ("damaged", "damaged:3:"),
                           ("missing", "No such file"), (".", "is no atomicity repository")):
        done = run(atomsan, "race", "--no-store", f"--repository={name}", "--", "./bank")
        expect(done.returncode == 1 and sentence in done.stderr and not done.stdout and done.stderr.count("\n") == 1,
               f"--repository={name}: {done.returncode} {done.stdout} {done.stderr}")
    done = run(atomsan, "race", "--no-store", "--", "./bank", env=dict(os.environ, TMPDIR="/there/is/none"))
    expect(done.returncode == 1 and "/there/is/none" in done.stderr, f"TMPDIR: {done.returncode} {done.stderr}")
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
        statuses(atomsan)
        mistakes(atomsan)
        os.chdir("/")
    sys.exit("\n".join(wrong) if wrong else 0)


main()
