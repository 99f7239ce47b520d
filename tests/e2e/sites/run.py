#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run.py ATOMSAN SOURCE: compile a program at several levels and compare its sites with what its lines say.

A line that ends in a comment of this form says which sites it has, separated by semicolons:

    //= KIND TYPE MEMBER BASE_KIND BASE [FLAG]

A dash stands for nothing, or for any base name; ~ for a blank; {a|b} for a or b. Without
optimisation the line must have exactly these sites. Optimised, accesses may be joined, moved or
left out, and bases become registers, but every struct member that the line still accesses must be
one of these, and most lines must still have one.
"""
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile

LEVELS = ("-O0", "-O1", "-O2")


def fail(message):
    sys.exit("run.py: " + message)


def alternatives(text):
    """a{b|c} -> ab, ac"""
    parts = re.split(r"\{([^}]*)\}", text)
    choices = [part.split("|") if i % 2 else [part] for i, part in enumerate(parts)]
    return ["".join(choice) for choice in itertools.product(*choices)]


def word(text):
    return "" if text == "-" else text.replace("~", " ")


def expectations(source):
    """line -> list of (kind, type, member, base kind, base, flag)"""
    found = {}
    for number, line in enumerate(open(source), 1):
        if "//=" not in line:
            continue
        found[number] = []
        for text in line.split("//=")[1].split(";"):
            fields = text.split()
            if len(fields) not in (5, 6):
                fail(f"{source}:{number}: expected five or six words in '{text.strip()}'")
            for one in alternatives(" ".join(fields)):
                kind, of, member, base_kind, base, *flags = one.split()
                found[number].append((kind, word(of), word(member), base_kind, word(base), flags))
    return found


def sites(atomsan, source, level, folder):
    program, trace = os.path.join(folder, "program"), os.path.join(folder, "program.atr")
    verb = "c++" if source.endswith(".cc") else "cc"
    subprocess.run([atomsan, verb, level, "-w", source, "-o", program], check=True)
    subprocess.run([atomsan, "record", "-o", trace, "--", program], check=True)
    dump = subprocess.run([atomsan, "dump", "--sites", "--json", trace], check=True, stdout=subprocess.PIPE)
    found = {}
    for site in json.loads(dump.stdout)["sites"]:
        if os.path.basename(site.get("file", "")) == os.path.basename(source):
            found.setdefault(site["line"], []).append(site)
    os.unlink(trace)
    return found


def fits(site, expected):
    kind, of, member, base_kind, base, flags = expected
    return (site["kind"] == kind and site.get("type", "") == of and site.get("member", "") == member
            and site.get("found_by", "unknown") == base_kind and (not base or site.get("base", "") == base)
            and all(flag in site["flags"] for flag in flags)
            and ("bitfield" in site["flags"]) == ("bitfield" in flags)
            and ("member" in site["flags"]) == bool(member))


def exact(line, found, expected):
    """Problems of one line, unoptimised."""
    problems = []
    left = list(found)
    for one in expected:
        match = next((site for site in left if fits(site, one)), None)
        if match:
            left.remove(match)
        else:
            problems.append(f"line {line}: no site {one}; there are {[shown(s) for s in left]}")
    return problems + [f"line {line}: unexpected {shown(site)}" for site in left]


def shown(site):
    return tuple(site.get(key, "") for key in ("kind", "type", "member", "found_by", "base")) + (site["flags"],)


def named(line, found, expected):
    """Problems of one line, optimised."""
    names = {(one[1], one[2]) for one in expected}
    return [f"line {line}: {shown(site)} is none of {sorted(names)}" for site in found
            if "member" in site["flags"] and (site.get("type", ""), site.get("member", "")) not in names]


def main():
    atomsan, source = sys.argv[1:]
    wanted = expectations(source)
    if not wanted:
        fail(f"{source} expects nothing")
    for level in LEVELS:
        with tempfile.TemporaryDirectory() as folder:
            found = sites(atomsan, source, level, folder)
        check = exact if level == "-O0" else named
        problems = [p for line, expected in wanted.items() for p in check(line, found.get(line, []), expected)]
        seen = sum(line in found for line in wanted)
        if seen < 0.8 * len(wanted):
            problems.append(f"only {seen} of {len(wanted)} lines have sites")
        if problems:
            fail(f"{source} with {level}:\n" + "\n".join(problems))


if __name__ == "__main__":
    main()
