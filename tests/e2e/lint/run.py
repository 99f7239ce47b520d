#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run.py ATOMSAN PROGRAM: builds a program, lints it, and compares with what its comments say.

  expect: FUNCTION KIND VARIABLE   a finding at the default confidence whose first unit is the function; KIND is a
                                   finding's kind, VARIABLE one of its variables; * stands for anything
  expect nothing                   no finding
  expect count: NAME N             this count of the document
  expect blind spot: TEXT          a sentence that has this text
  build: WORDS                     more words for the compiler; FOLDER in them is the program's
  lint: WORDS                      more words for lint, likewise

All findings must be expected, and all expectations met.
"""
import fnmatch
import json
import pathlib
import re
import subprocess
import sys
import tempfile


def said(words):
    done = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode not in (0, 66):
        sys.exit(f"{' '.join(map(str, words))}: status {done.returncode}\n{done.stderr}")
    document = json.loads(done.stdout)
    if (done.returncode == 66) != bool(document["findings"]):
        sys.exit(f"status {done.returncode} with {len(document['findings'])} findings")
    return document


def main():
    atomsan, source = sys.argv[1], pathlib.Path(sys.argv[2])
    text = source.read_text()
    expected = re.findall(r"expect: (\S+) (\S+) (\S+)", text)
    counts = re.findall(r"expect count: (\S+) (\d+)", text)
    spots = re.findall(r"expect blind spot: (.*)", text)
    if not expected and "expect nothing" not in text:
        sys.exit(f"{source} does not say what it expects")
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "program"
        more = " ".join(re.findall(r"build: (.*)", text)).replace("FOLDER", str(source.parent)).split()
        lint = " ".join(re.findall(r"^.*\blint: (.*)", text, re.M)).replace("FOLDER", str(source.parent)).split()
        verb = "c++" if source.suffix == ".cc" else "cc"
        subprocess.run([atomsan, verb, "-g", "-O2", "-pthread", str(source), "-o", str(program), *more], check=True)
        document = said([atomsan, "lint", "--json", "--no-store", *lint, program])
    for finding in document["findings"]:
        function = finding["units"][0]["function"]
        met = [e for e in expected
               if e[0] == function and e[1] == finding["kind"] and fnmatch.filter(finding["variables"], re.sub(r"\[", "[[]", e[2]))]
        if not met:
            wrong.append(f"not expected: {function} {finding['kind']} {finding['variables']}")
        for one in met:
            expected.remove(one)
    wrong += [f"missed: {' '.join(e)}" for e in expected]
    for name, number in counts:
        if document["counts"].get(name) != int(number):
            wrong.append(f"count {name} is {document['counts'].get(name)}, not {number}")
    for spot in spots:
        if not any(spot in sentence for sentence in document["blind_spots"]):
            wrong.append(f"no blind spot says '{spot}'")
    sys.exit("\n".join(wrong) if wrong else 0)


main()
