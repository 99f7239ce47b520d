#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ways.py ATOMSAN SOURCE: every mode of ways.c or files.c, healed, in both forms: the program ends, with the result it should have.

The repository is made of the comments in the source that say where a mode's section begins and ends.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# Those that wait for others in the middle of their section.
WAITS = ("join", "barrier", "semaphore", "condition", "polls", "epolls", "selects", "reads", "polls_signals", "selects_signals",
         "epolls_signals", "epolls_time", "reads_parts", "receives", "receives_message", "writes", "waits_for_child")
# Those that could have waited there, and need not.
KEEPS = ("answered",)
KEYS = {"id", "variable", "unit", "entered", "healed", "scheduled", "timeouts", "given_up", "waited_ns", "gated", "cut_short"}
LIMIT = 60  # far from what any of them takes: who comes near is stuck


def fail(text):
    sys.exit(f"ways.py: {text}")


def functions(source):
    """The function that each line is in."""
    name, where = None, {}
    for number, line in enumerate(source, 1):
        found = re.match(r"(?:static )?[a-z].*?\b(\w+)\(.*\)$", line)
        if found:
            name = found[1]
        where[number] = name
    return where


def repository(source, path, name):
    """One section a mode; what it is on is what the line assigns from, or to."""
    where = functions(source)
    entries, ends = {}, {}
    for number, line in enumerate(source, 1):
        for kind, mode in re.findall(r"\b(entry|end) (\w+)", line.partition("/*")[2]):
            (entries if kind == "entry" else ends)[mode] = number
    common = entries.pop("of"), ends.pop("of")
    for mode in re.findall(r'^\s*\{"(\w+)", ', "\n".join(source), re.M):
        if mode not in entries:
            entries[mode], ends[mode] = common
    lines = ["atomicity 1", f"program {name[:-2]}"]
    for count, (mode, number) in enumerate(sorted(entries.items())):
        variable = "shared.atomic" if mode == "lost_atomic" else "shared.value"
        unit = {"fork": "forks"}.get(mode, mode)
        lines += [f"section A-{count:08x} {variable}",
                  f"  entry R {variable} {where[number]} {name}:{number}:0",
                  f"  end W {variable} {where[ends[mode]]} {name}:{ends[mode]}:0 allow none",
                  f"  unit {unit} {name}"]
    path.write_text("\n".join(lines) + "\n")
    return sorted(entries)


def run(words, **more):
    try:
        return subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True, timeout=LIMIT, check=False, **more)
    except subprocess.TimeoutExpired:
        fail(f"{' '.join(map(str, words))}: did not end")


def main():
    atomsan, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        table = folder / "ways.atomicity"
        modes = repository(pathlib.Path(source).read_text().splitlines(), table, os.path.basename(source))
        for words in ([], [f"--heal={table}"]):
            program = folder / ("field" if words else "tested")
            built = run([atomsan, "cc", *words, "-g", "-O2", "-pthread", source, "-o", program])
            if built.returncode or built.stderr:
                fail(f"it does not build: {built.stderr}")
        waited = 0
        for mode in modes:
            said = run([atomsan, "heal", "--json", "--no-store", f"--repository={table}", "--", folder / "tested", mode],
                       cwd=folder)
            if said.returncode:
                fail(f"{mode}, tested: status {said.returncode}: {said.stdout}{said.stderr}")
            document = json.loads(said.stdout[said.stdout.index("{"):])
            mine = [section for section in document["sections"] if section["entered"]]
            if not mine:
                fail(f"{mode}: no section was entered")
            if set(mine[0]) != KEYS:
                fail(f"{mode}: a section is told of by {sorted(mine[0])}")
            if mode in WAITS and not sum(s["given_up"] for s in mine):
                fail(f"{mode}: waited for others without giving up its section: {mine}")
            if mode in KEEPS and sum(s["given_up"] for s in mine):
                fail(f"{mode}: gave up its section without having to wait: {mine}")
            if mode.startswith("lost"):
                waited += sum(section["healed"] for section in mine)
            done = run([folder / "field", mode], env=dict(os.environ, ATOMSAN_OPTIONS="verbosity=1"))
            if done.returncode:
                fail(f"{mode}, for the field: status {done.returncode}: {done.stdout}{done.stderr}")
            if mode in KEEPS and not re.search(r"given up 0;", done.stderr):
                fail(f"{mode}, for the field: gave up its section without having to wait: {done.stderr}")
            if mode in WAITS and not re.search(r"given up [1-9]", done.stderr):
                fail(f"{mode}, for the field: waited for others without giving up its section: {done.stderr}")
            if "was entered" not in done.stderr:
                fail(f"{mode}, for the field: no section was entered: {done.stderr}")
        if not waited and any(mode.startswith("lost") for mode in modes):
            fail("nothing was healed at all")
    print(f"{len(modes)} ways, two forms: all ended as they should, {waited} times somebody was kept out")


main()
