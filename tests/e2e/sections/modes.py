#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""modes.py ATOMSAN SOURCE: each mode of the program breaks sections, or does not, and that is what is said.

The sections come from statements of a spec file; words that the language of spec files does not have are added to
the repository by hand. Every mode is watched with all sections at once, as it is, before the optimiser and after
it, recorded at the same time, and with others' noise.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# name: (variable, entry, end, words of the statement, lines added to the section)
SECTIONS = {
    "rw": ("x", "rw1", "rw2", "", ""),
    "rr": ("x", "rr1", "rr2", "", ""),
    "wr": ("x", "wr1", "wr2", "", ""),
    "ww": ("x", "ww1", "ww2", "", ""),
    "early": ("x", "early1", "early2", "", ""),
    "loop": ("x", "loop1", "loop2", "", ""),
    "break": ("x", "break1", "break2", "", ""),
    "jump": ("x", "jump1", "jump2", "", ""),
    "through": ("x", "through1", "through2", "", ""),
    "member": ("pair.low", "member1", "member2", "", ""),
    "two": ("pair.low", "two1", "two2", "", "instance any"),
    "chain-a": ("x", "chain1", "chain2", "", ""),
    "chain-b": ("x", "chain2", "chain3", "", ""),
    "circle": ("x", "circle", "circle", "", "circular"),
    "deep": ("x", "deep1", "deep2", "", "recursive"),
    "wait": ("x", "wait1", "wait2", "", ""),
    "free": ("pair.low", "free1", "free2", "unit freed_between", ""),
    "cas": ("a", "cas1", "cas2", "", ""),
    "atomic": ("a", "atomic1", "atomic2", "", ""),
    "add": ("a", "add1", "add2", "", ""),
    "rest": ("x", "rest1", "rest2", "", ""),
    "throw": ("x", "throw1", "throw2", "", ""),
    "catch": ("x", "catch1", "catch2", "", ""),
}
# mode: {(section, pattern)}
BROKEN = {
    "rw_w": {("rw", "RWW")},
    "rw_both": {("rw", "RWW")},
    "rr_w": {("rr", "RWR")},
    "wr_w": {("wr", "WWR")},
    "ww_r": {("ww", "WRW")},
    "go_on": {("loop", "RWW")},
    "same_instance": {("member", "RWW")},
    "two_by_one": {("two", "RWR")},
    "chain_first": {("chain-a", "RWR")},
    "chain_second": {("chain-b", "RWW")},
    "circle_broken": {("circle", "RWR")},
    "recursive_broken": {("deep", "RWW")},
    "atomic_broken": {("atomic", "RWW")},
    "add_broken": {("add", "RWW")},
    "both_inside": {("rw", "RWW")},
    "caught": {("catch", "RWW")},
}


def marks(source):
    found = {}
    for number, line in enumerate(source.read_text().splitlines(), 1):
        for name in re.findall(r"@(\w+)", line):
            found[name] = number
    return found


def statement(source, lines, section):
    variable, entry, end, words, _ = SECTIONS[section]
    return f"section {variable} entry {source.name}:{lines[entry]} end {source.name}:{lines[end]} {words}\n"


def run(*command, status=0, **settings):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, timeout=120, **settings)
    if done.returncode != status:
        sys.exit(f"{' '.join(map(str, command))}: {done.returncode} instead of {status}\n{done.stdout}{done.stderr}")
    return done


def repository(atomsan, source, program, folder):
    """The repository, and the ids of its sections by their names."""
    lines = marks(source)
    names = [s for s in SECTIONS if SECTIONS[s][1] in lines]
    path = folder / "repository"
    ids = {}
    for name in names:
        spec = folder / "spec"
        spec.write_text(statement(source, lines, name))
        # A section over two variables cannot be said in one statement.
        if name == "two":
            continue
        before = path.read_text() if path.exists() else ""
        run(atomsan, "learn", "--spec=" + str(spec), "--repository=" + str(path), program)
        text = path.read_text()
        new = [i for i in re.findall(r"^section (A-\w+) ", text, re.M) if f"section {i} " not in before]
        assert len(new) == 1, (name, new, text)
        ids[new[0]] = name
        if SECTIONS[name][4] and SECTIONS[name][4] not in text[text.index(new[0]):]:
            at = text.index("\n", text.index(new[0])) + 1
            path.write_text(text[:at] + f"  {SECTIONS[name][4]}\n" + text[at:])
    if "two" in names:
        path.write_text(path.read_text() + f"section A-2 pair.low\n"
                        f"  entry R pair.low width {source.name}:{lines['two1']}:0\n"
                        f"  end R pair.high width {source.name}:{lines['two2']}:0\n  instance any\n  from spec by:1\n")
        ids["A-2"] = "two"
        # As the static side says it of a function without a frame: no end is reached without the entry.
        path.write_text(path.read_text() + f"section A-3 x\n"
                        f"  entry R x again {source.name}:{lines['again1']}:0\n"
                        f"  end W x again {source.name}:{lines['again2']}:0\n  from lint load-store 900\n")
        ids["A-3"] = "again"
    return path, ids


def told(folder, ids):
    found = set()
    for path in folder.glob("watched.*"):
        facts = {}
        for line in path.read_text().splitlines():
            words = line.split("\t")
            if words[0] == "fact":
                facts[words[1]] = words[2]
            elif words[0] == "end" and "section" in facts:
                found.add((ids[facts["section"]], facts["pattern"]))
                facts = {}
        path.unlink()
    return found


def main():
    atomsan, source = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    modes = re.findall(r'\{"(\w+)", \w+\}', source.read_text())
    assert modes
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for flags in (["-O0"], ["-O2"], ["-O2", "--early"]):
            program = folder / "program"
            run(atomsan, "c++" if source.suffix == ".cc" else "cc", "-g", *flags, source, "-o", program, "-pthread")
            (folder / "repository").unlink(missing_ok=True)
            path, ids = repository(atomsan, source, program, folder)
            for extra in ("", f":record={folder}/trace", ":noise=random,200,yield", ":race=1", ":sched=random:seed=7"):
                for mode in modes:
                    options = f"repository={path}:results={folder}{extra}"
                    run(program, mode, env=dict(os.environ, ATOMSAN_OPTIONS=options))
                    found, expected = told(folder, ids), BROKEN.get(mode, set())
                    if found != expected:
                        wrong.append(f"{' '.join(flags)}{extra} {mode}: {found or 'nothing'} instead of {expected or 'nothing'}")
    sys.exit("\n".join(wrong) if wrong else 0)


main()
