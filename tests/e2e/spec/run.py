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

from cases import CASES, BAD, MACROS_BAD, PREAMBLE

ATOMSAN, INCLUDE, STAGES, WORK = sys.argv[1], sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[4]).absolute()


PROBLEMS = []


def fail(text):
    PROBLEMS.append(f"spec: {text}")


def build(name, source, with_macros):
    """/*+ MACRO */ counts with macros, and is a comment without."""
    text = re.sub(r"/\*\+ (.*?) \*/", r"\1", source) if with_macros else source
    path, program = WORK / f"{name}.c", WORK / name
    path.write_text(PREAMBLE + text)
    subprocess.run([ATOMSAN, "cc", "-Wall", "-Werror", "-g", "-O2", f"-I{INCLUDE}", f"-I{STAGES}", "-pthread", path,
                    "-o", program], check=True)
    return program


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
        # Lint heeds other statements, and looks at their form alone.
        if not any("did you mean" in part for part in expected):
            refused([ATOMSAN, "lint", "--no-store", f"--spec={spec}", program], [str(spec), *expected], f"lint with '{text}'")
    for name, source, *expected in MACROS_BAD:
        program = build(name, source, True)
        trace = WORK / f"{name}.atr"
        subprocess.run([ATOMSAN, "record", "-o", trace, "--", program], check=True, timeout=60)
        refused([ATOMSAN, "check", "--no-store", trace], expected, name)
    trace = WORK / "bad.atr"
    refused([ATOMSAN, "check", "--no-store", "--spec=/nowhere/at.all", trace], ["/nowhere/at.all"], "a file that is not there")
    sys.exit("\n".join(PROBLEMS) or 0)


main()
