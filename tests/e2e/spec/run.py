#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run.py ATOMSAN INCLUDE STAGES WORK: the user's word outweighs what is inferred.

Each case of cases.py is a program whose interleaving is fixed, and statements of a spec file, each with the verdict
that it must lead to: of check, of predict, and of run. A macro in the source must do the same as its statement.
What cannot be meant is refused, in one sentence with file and line, by whoever reads it.
"""
import json
import pathlib
import re
import subprocess
import sys

from cases import BAD, CASES, MACROS_BAD, MACROS_LOST, PREAMBLE, UNSURE, UNUSED

ATOMSAN, INCLUDE, STAGES, WORK = sys.argv[1], sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[4]).absolute()


PROBLEMS = []


def fail(text):
    PROBLEMS.append(f"spec: {text}")


def build(name, source, with_macros):
    """/*+ MACRO */ counts with macros, and is a comment without."""
    text = re.sub(r"/\*\+ (.*?) \*/", r"\1", source) if with_macros else source
    path = WORK / (name if name.endswith(".cc") else f"{name}.c")
    program = path.with_suffix("")
    path.write_text(PREAMBLE + text)
    subprocess.run([ATOMSAN, "c++" if name.endswith(".cc") else "cc", "-Wall", "-Werror", "-g", "-O2", f"-I{INCLUDE}", f"-I{STAGES}",
                    "-pthread", path, "-o", program], check=True)
    return program


def said_when_compiling(name, source, parts):
    path = WORK / name
    path.write_text(PREAMBLE + source)
    done = subprocess.run([ATOMSAN, "c++" if name.endswith(".cc") else "cc", "-g", "-O2", f"-I{INCLUDE}", f"-I{STAGES}", "-c", path, "-o",
                           path.with_suffix(".o")], stderr=subprocess.PIPE, text=True)
    said = [line for line in done.stderr.splitlines() if "warning: atomsan: " in line]
    if done.returncode or not said or not all(part in said[0] for part in parts):
        fail(f"{name}: status {done.returncode}, '{done.stderr}' instead of {parts}")


def blind_spots(words, about):
    """What a verb says that it does not see."""
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, text=True)
    if done.returncode not in (0, 66):
        fail(f"{about}: status {done.returncode}, {done.stderr.strip()}")
        return []
    return json.loads(done.stdout)["blind_spots"]


def unsure():
    """A statement about what is declared and never used is no mistake; that it has no effect is said, with its place."""
    program = build("unused", UNUSED, False)
    trace, spec = WORK / "unused.atr", WORK / "unsure.spec"
    subprocess.run([ATOMSAN, "record", "-o", trace, "--", program], check=True, timeout=60)
    verbs = (("check", [trace]), ("predict", [trace]), ("run", ["--", program]), ("lint", [program]))
    for text, expected, by_lint in UNSURE:
        spec.write_text(f"\n{text}\n")
        for verb, last in verbs:
            said = blind_spots([ATOMSAN, verb, "--json", "--no-store", f"--spec={spec}", *last], f"{verb} with '{text}'")
            said = [line for line in said if line.startswith(f"{spec}:2: nothing in the program {expected}, so this says nothing")]
            if len(said) != (verb != "lint" or by_lint):
                fail(f"{verb} with '{text}': {said}")
    # Another build of the program, or none, does not tell what this one had.
    spec.write_text("set a pair.xylophone\n")
    program.unlink()
    if not any("pair.xylophone" in line for line in
               blind_spots([ATOMSAN, "check", "--json", "--no-store", f"--spec={spec}", trace], "without the program")):
        fail("without the program nothing is said")


def judged(words, about):
    """What a verb reports: the functions of all units."""
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, text=True)
    if done.returncode not in (0, 66):
        fail(f"{about}: status {done.returncode}, {done.stderr.strip()}")
        return set()
    findings = json.loads(done.stdout)["findings"]
    if (done.returncode == 66) != bool(findings):
        fail(f"{about}: status {done.returncode} with {len(findings)} findings")
    return {unit["function"] for finding in findings for unit in finding["units"]}


def verdicts(program, options, about):
    """Is a function found not to be atomic? The trace is one of the same interleaving as the run's."""
    trace = f"{program}.atr"
    subprocess.run([ATOMSAN, "record", "-o", trace, "--", program], check=True, timeout=60)
    return {verb: "torn" in judged([ATOMSAN, verb, "--json", "--no-store", *options, *last], f"{about}, {verb}")
            for verb, last in (("check", [trace]), ("predict", [trace]), ("run", ["--", program]))}


def expect(program, options, expected, about):
    said = verdicts(program, options, about)
    if set(said.values()) != {expected}:
        fail(f"{about}: expected {'a finding' if expected else 'none'}, and found {said}")


def refused(words, expected, about):
    """The first line says it; only who runs a program before it knows its names has to say that it was not checked."""
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, text=True)
    said = done.stderr.strip().splitlines() or [""]
    if done.returncode != 1 or not all(part in said[0] for part in expected) or (len(said) > 1 and "not checked" not in said[-1]):
        fail(f"{about}: status {done.returncode}, '{said}' instead of {expected}")


def main():
    WORK.mkdir(parents=True, exist_ok=True)
    spec = WORK / "words.spec"
    for name, source, inferred, statements in CASES:
        program = build(name, source, False)
        expect(program, [], inferred, name)
        for text, expected in statements:
            spec.write_text(text + "\n")
            expect(program, [f"--spec={spec}"], expected, f"{name} with '{text}'")
        if re.search(r"/\*\+ \S", source):
            # The first statement is what the macros say, and a file says more than they do.
            program = build(f"{name}-macro", source, True)
            expect(program, [], statements[0][1], f"{name} with macros")
    program = build("bad", CASES[0][1], False)
    trace = WORK / "bad.atr"
    subprocess.run([ATOMSAN, "record", "-o", trace, "--", program], check=True, timeout=60)
    for text, *expected in BAD:
        spec.write_text(text + "\n")
        for verb, last in (("check", [trace]), ("predict", [trace]), ("run", ["--", program])):
            refused([ATOMSAN, verb, "--no-store", f"--spec={spec}", *last], [str(spec), *expected], f"{verb} with '{text}'")
        # Lint may see a part of the program: a name that it does not have is no error.
        if not any("did you mean" in part or "the program has no" in part for part in expected):
            refused([ATOMSAN, "lint", "--no-store", f"--spec={spec}", program], [str(spec), *expected], f"lint with '{text}'")
    for name, source, *expected in MACROS_BAD:
        program = build(name, source, True)
        trace = WORK / f"{name}.atr"
        subprocess.run([ATOMSAN, "record", "-o", trace, "--", program], check=True, timeout=60)
        refused([ATOMSAN, "check", "--no-store", trace], expected, name)
        refused([ATOMSAN, "run", "--no-store", "--", program], expected, f"run, {name}")
    for name, source, *expected in MACROS_LOST:
        said_when_compiling(name, source, expected)
    unsure()
    trace = WORK / "bad.atr"
    refused([ATOMSAN, "check", "--no-store", "--spec=/nowhere/at.all", trace], ["/nowhere/at.all"], "a file that is not there")
    sys.exit("\n".join(PROBLEMS) or 0)


main()
