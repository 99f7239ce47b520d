#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""schema.py SAMPLES SCHEMA ATOMSAN: what is printed as JSON is what the schema says, and the schema says enough.

Every document must be valid, and must stop being valid when a field is dropped, is of another type or
has another name.
"""
import copy
import json
import subprocess
import sys
import tempfile

import jsonschema

samples, schema_path, atomsan = sys.argv[1:]
schema = json.load(open(schema_path))
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)


def objects(value, path=()):
    if isinstance(value, dict):
        yield path, value
        for key, part in value.items():
            yield from objects(part, path + (key,))
    elif isinstance(value, list):
        for i, part in enumerate(value):
            yield from objects(part, path + (i,))


def at(document, path):
    for key in path:
        document = document[key]
    return document


refused = 0
for what in ("bank", "all", "hostile", "40"):
    text = subprocess.run([samples, "json", what], check=True, capture_output=True).stdout
    text.decode("ascii")
    document = json.loads(text)
    problems = [f"{what}: {e.json_path}: {e.message[:200]}" for e in validator.iter_errors(document)]
    if problems:
        sys.exit("\n".join(problems))
    if what != "all":
        continue
    shapes = set()
    for path, value in objects(document):
        shape = tuple("*" if isinstance(key, int) else key for key in path)
        if shape in shapes or shape == ("counts",):
            continue
        shapes.add(shape)
        for key in list(value) + ["no such field"]:
            broken = copy.deepcopy(document)
            at(broken, path)[key] = {"neither": "nor"}
            if key != "counts" and validator.is_valid(broken):
                sys.exit(f"{path}: the schema allows {key} to be anything")
            refused += 1
assert refused > 50, refused

# What a store adds is described as well.
with tempfile.TemporaryDirectory() as folder:
    def run(*words):
        done = subprocess.run([atomsan, *words, f"--db={folder}/x.db"], capture_output=True)
        if done.returncode not in (0, 66):
            sys.exit(done.stderr.decode())
        return done.stdout

    with open(f"{folder}/all.json", "wb") as file:
        file.write(subprocess.run([samples, "json", "all"], check=True, capture_output=True).stdout)
    documents = [run("import", "--json", f"{folder}/all.json")]
    run("mark", "--reason=x", json.loads(documents[0])["findings"][0]["id"], "confirmed")
    documents += [run("list", "--json"), run("report", "--format=json")]
    for text in documents:
        problems = [f"{e.json_path}: {e.message[:200]}" for e in validator.iter_errors(json.loads(text))]
        if problems:
            sys.exit("\n".join(problems))
    assert json.loads(documents[1])["findings"][0]["history"] and json.loads(documents[1])["runs"]
