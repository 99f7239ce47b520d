#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""life.py ATOMSAN SCHEMA: whoever finds it, it is one finding. Static analysis suspects it, a run predicts it and has it
observed, online and afterwards, a forced schedule reproduces it: one id, one row of the store, one history. And whoever speaks of it, the JSON is the schema's."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import jsonschema

validator = jsonschema.Draft7Validator(json.load(open(sys.argv[2])))
atomsan = pathlib.Path(sys.argv[1]).resolve()
os.environ.pop("ATOMSAN_DB", None)


def run(*words, ok=(0,)):
    done = subprocess.run([str(atomsan), *words], capture_output=True, text=True)
    if done.returncode not in ok:
        sys.exit(f"atomsan {' '.join(words)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


with tempfile.TemporaryDirectory() as folder:
    shutil.copy(pathlib.Path(__file__).with_name("both.c"), folder)
    os.chdir(folder)
    verbs = set(line.split()[0] for line in run("-h").splitlines() if line.startswith("  "))
    run("cc", "-g", "-O1", "both.c", "-o", "both", "-pthread")
    run("record", "-o", "t.atr", "--", "./both")
    told = {}
    for verb, words, state in (("lint", ["./both"], "suspected"), ("predict", ["t.atr"], "predicted"), ("check", ["t.atr"], "observed"),
                               ("run", ["--", "./both"], "observed"),
                               # Every run loses a deposit, so every run is called a bad one.
                               ("explore", ["--budget=3", "--seed=1", "--check=false", "--", "./both"], "reproduced")):
        if verb not in verbs:
            continue
        printed = run(verb, "--json", "--no-store" if verb == "run" else "--db=x.db", *words, ok=(66,))
        problems = [f"{verb}: {e.json_path}: {e.message[:200]}" for e in validator.iter_errors(json.loads(printed))]
        if problems:
            sys.exit("\n".join(problems))
        if verb != "run":
            listed = json.loads(run("list", "--json", "--db=x.db"))["findings"]
            told[verb] = [(f["id"], f["state"]) for f in listed]
            if len(listed) != 1 or listed[0]["state"] != state:
                sys.exit(f"after {verb} there should be one finding, {state}: {told}")
    if len({id for findings in told.values() for id, _ in findings}) != 1:
        sys.exit(f"the id changed: {told}")
    finding = json.loads(run("list", "--json", "--db=x.db"))["findings"][0]
    states = [event["to"] for event in finding["history"]]
    if states != [state for state in ("suspected", "predicted", "observed", "reproduced") if state in states] or len(states) < 3:
        sys.exit(f"the history is not in order: {finding['history']}")
    # Fixed, and found once more.
    run("mark", "--db=x.db", finding["id"], "fixed", "--reason=one section now")
    run("check", "--db=x.db", "t.atr", ok=(66,))
    if json.loads(run("list", "--json", "--db=x.db"))["findings"][0]["history"][-1]["reason"] != "it was found again":
        sys.exit("a finding that was fixed must come back as new")
