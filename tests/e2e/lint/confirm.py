#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""confirm.py ATOMSAN CORPUS: what lint suspects in a wrong program is reproduced by --confirm, with a schedule that
fails each time and the same id; in its correct twin there is nothing to confirm; what a run does not do is not
reproduced; and a program that fails by itself confirms nothing.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

# Program, arguments, functions that must be reproduced, functions that must not.
PROGRAMS = [
    ("account_update/account_update.c", [], {"update"}, set()),
    ("string_buffer/string_buffer.c", [], {"append"}, set()),
    # Its last step lies in the C++ library, so that only the checker knows the violation.
    ("string_buffer/string_buffer.cc", [], {"append"}, set()),
    ("connection/connection.c", [], {"disconnect", "try_send"}, set()),
    ("coord03/coord03.c", [], {"on_curve"}, set()),
    ("stack/stack.c", ["1"], {"push_all"}, {"drop_all", "holds_all"}),
    ("stack/stack.c", ["3"], {"drop_all"}, {"push_all", "holds_all"}),
]


def run(words, status):
    done = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode not in status:
        sys.exit(f"{' '.join(map(str, words))}: status {done.returncode}, not {status}\n{done.stdout}\n{done.stderr}")
    return done


def build(atomsan, corpus, source, program):
    compiler = "c++" if source.suffix == ".cc" else "cc"
    run([atomsan, compiler, "-g", "-O2", "-pthread", corpus / source, "-o", program], (0,))


def wrong(atomsan, corpus, folder, name, arguments, must, must_not):
    program = folder / pathlib.Path(name).name.replace(".", "-")
    build(atomsan, corpus, pathlib.Path("wrong") / name, program)
    suspected = json.loads(run([atomsan, "lint", "--json", "--no-store", program], (66,)).stdout)
    said = json.loads(run([atomsan, "lint", "--confirm", "--json", "--budget=60", program, "--", program] + arguments,
                          (66,)).stdout)
    if {f["id"] for f in said["findings"]} != {f["id"] for f in suspected["findings"]}:
        sys.exit(f"{name}: other findings with --confirm than without")
    states = {f["title"].split()[0]: f for f in said["findings"]}
    trials = {t["finding"]: t for t in said["trials"]}
    for function in must:
        finding = states[function]
        if finding["state"] != "reproduced" or not finding.get("schedule"):
            sys.exit(f"{name} {arguments}: {function} is {finding['state']}")
        if trials[finding["id"]]["failures"] != 1:
            sys.exit(f"{name}: the trial of {function} has no failure")
        # By its file, and by its id, which the store knows.
        for schedule in (finding["schedule"], finding["id"]):
            run([atomsan, "replay", "--quiet", "--times=3", schedule, "--", program] + arguments, (66,))
    for function in must_not:
        finding = states[function]
        trial = trials[finding["id"]]
        if finding["state"] != "suspected" or finding.get("schedule") or trial["runs"] != 60 or trial["failures"]:
            sys.exit(f"{name} {arguments}: {function} is {finding['state']}, {trial}")
    listed = run([atomsan, "list", "--json", f"--db={program.parent}/.atomsan/findings.db"], (0, 66)).stdout
    kept = {f["id"]: f["state"] for f in json.loads(listed)["findings"]}
    for function in must:
        if kept.get(states[function]["id"]) != "reproduced":
            sys.exit(f"{name}: the store has {function} as {kept.get(states[function]['id'])}")


def right(atomsan, corpus, folder, name):
    program = folder / ("right-" + pathlib.Path(name).stem)
    build(atomsan, corpus, pathlib.Path("right") / name, program)
    said = run([atomsan, "lint", "--confirm", "--no-store", program], (0,)).stdout
    if "reproduced" in said:
        sys.exit(f"right/{name}: {said}")


def misuse(atomsan, corpus, folder):
    program = folder / "misuse"
    build(atomsan, corpus, pathlib.Path("wrong/account_update/account_update.c"), program)
    text = run([atomsan, "lint", "--confirm", "--no-store", program], (66,)).stdout
    if ": reproduced (schedule " not in text:
        sys.exit(f"the text does not say that it was reproduced:\n{text}")
    for words, sentence in (
            (["--confirm", "--expect-status=7", program], "nothing can be confirmed"),
            (["--confirm", "--budget=none", program], "neither a number of runs"),
            (["--confirm", program, "--"], "nothing behind '--'"),
            (["--confirm", folder / "absent"], "there is no such program"),
            ([program, "--", program], "without --confirm")):
        said = run([atomsan, "lint", "--no-store"] + words, (1,))
        if sentence not in said.stderr:
            sys.exit(f"{words}: {said.stderr}")
    if (folder / "absent").exists():
        sys.exit("a file was made")


def main():
    atomsan, corpus = sys.argv[1], pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as name:
        for number, row in enumerate(PROGRAMS):
            folder = pathlib.Path(name) / str(number)
            folder.mkdir()
            wrong(atomsan, corpus, folder, *row)
        for program in sorted({p[0] for p in PROGRAMS}):
            if (corpus / "right" / program).exists():
                right(atomsan, corpus, pathlib.Path(name), program)
        misuse(atomsan, corpus, pathlib.Path(name))


main()
