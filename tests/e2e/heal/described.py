#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""described.py ATOMSAN SCHEMA CORPUS: what heal prints as JSON, of a run and of --verify, is what the schema says.

Each document must be valid, and no longer so when a key is dropped, is another one, or has a value that says
nothing.
"""
import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import jsonschema


def fail(text):
    sys.exit(f"described.py: {text}")


def run(*words, status=0):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, timeout=300, check=False)
    if done.returncode != status:
        fail(f"{' '.join(map(str, words))}: status {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def objects(value, path=()):
    if isinstance(value, dict):
        yield path, value
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from objects(part, path + (key,))


def at(document, path):
    for key in path:
        document = document[key]
    return document


def check(validator, document, what):
    for error in validator.iter_errors(document):
        fail(f"{what}: {error.json_path}: {error.message[:300]}\n{json.dumps(document)[:2000]}")
    refused = 0
    for path, value in objects(document):
        for key in value:
            for change in ("dropped", "renamed", "made nothing"):
                broken = copy.deepcopy(document)
                found = at(broken, path)
                if change == "made nothing":
                    found[key] = {"neither": "nor"}
                else:
                    old = found.pop(key)
                    if change == "renamed":
                        found[key + "_"] = old
                if validator.is_valid(broken):
                    fail(f"{what}: {path}: the schema does not mind that {key} is {change}")
                refused += 1
    return refused


def main():
    atomsan, corpus = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[3]).resolve()
    schema = json.loads(pathlib.Path(sys.argv[2]).read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        source = pathlib.Path("program.c")
        source.write_text((corpus / "wrong/account_update/account_update.c").read_text()
                          .replace("../../stage.h", str(corpus / "stage.h")))
        run(atomsan, "cc", "-g", "-O2", "-pthread", source, "-o", "program")
        run(atomsan, "explore", "--budget=100", "--stop-at-first", "--jobs=1", "--seed=1", "--", "./program", status=66)
        verified = json.loads(run(atomsan, "heal", "--verify", "--json", "--", "./program"))
        printed = run(atomsan, "heal", "--json", "--", "./program")
        healed = json.loads(printed[printed.index('{"version"'):])
    if not verified["schedules"] or not any(s["without"]["first"] for s in verified["schedules"]):
        fail(f"nothing was verified: {verified}")
    if not any(s["entered"] and s["gated"] for s in healed["sections"]):
        fail(f"no section closed a gate: {healed}")
    refused = check(validator, verified, "--verify") + check(validator, healed, "a run")
    print(f"two documents are as described, and {refused} that are not are refused")


main()
