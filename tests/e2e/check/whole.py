#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""whole.py ATOMSAN INCLUDE SOURCES BANK WORK: `atomsan test`, from suspicion to a schedule that fails."""
import json
import pathlib
import subprocess
import sys

ATOMSAN, INCLUDE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
SOURCES, BANK, WORK = (pathlib.Path(word).resolve() for word in sys.argv[3:6])


def run(*words, **how):
    return subprocess.run([str(word) for word in words], timeout=120, cwd=WORK, **how)


def build(source, name):
    run(ATOMSAN, "cc", "-g", "-O1", "-pthread", f"-I{INCLUDE}", source, "-o", name, check=True)


def main():
    WORK.mkdir(parents=True, exist_ok=True)
    build(BANK, "bank")
    done = run(ATOMSAN, "test", "--json", "--budget=20", "--db=bank.db", "--", "./bank", 3, stdout=subprocess.PIPE)
    document = json.loads(done.stdout)
    findings = document["findings"]
    if done.returncode != 66 or len(findings) != 1:
        sys.exit(f"bank: exit status {done.returncode}, {len(findings)} findings")
    finding = findings[0]
    if finding["state"] != "reproduced" or {unit["function"] for unit in finding["units"]} != {"deposit"}:
        sys.exit(f"bank: {finding['state']}, {finding['title']}")
    # The schedule shows it again, each time.
    again = run(ATOMSAN, "replay", "--times=5", finding["schedule"], "--", "./bank", 3, stdout=subprocess.PIPE)
    if again.returncode != 66 or b"5 failed" not in again.stdout:
        sys.exit(f"bank: the schedule does not fail again: {again.stdout.decode()}")
    # Each step alone has the same name for it.
    for words in (["lint", "--json", "--no-store", "./bank"], ["explore", "--json", "--no-store", "--budget=5", "--", "./bank", "3"]):
        step = run(ATOMSAN, *words, stdout=subprocess.PIPE)
        ids = {found["id"] for found in json.loads(step.stdout)["findings"]}
        if ids != {finding["id"]}:
            sys.exit(f"{words[0]} calls it {ids}, test calls it {finding['id']}")
    build(SOURCES / "piper.c", "piper")
    done = run(ATOMSAN, "test", "--json", "--budget=20", "--no-store", "--", "./piper", stdout=subprocess.PIPE)
    if done.returncode:
        sys.exit(f"piper: exit status {done.returncode}: {done.stdout.decode()[:2000]}")
    # A program that waits for ever is told of, and does not keep anybody waiting.
    build(SOURCES / "embrace.c", "embrace")
    done = run(ATOMSAN, "test", "--json", "--budget=4", "--timeout=0.5", "--no-store", "--", "./embrace", stdout=subprocess.PIPE)
    kinds = [finding["kind"] for finding in json.loads(done.stdout)["findings"]]
    if done.returncode != 66 or "deadlock" not in kinds:
        sys.exit(f"embrace: exit status {done.returncode}, {kinds}")
    done = run(ATOMSAN, "test", "--no-store", "--", "/bin/true", stderr=subprocess.PIPE)
    if done.returncode != 1 or b"no step could be done" not in done.stderr:
        sys.exit(f"/bin/true: exit status {done.returncode}: {done.stderr.decode()}")


main()
