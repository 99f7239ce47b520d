#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ignore.py ATOMSAN: what a spec file has the compiler leave out is not instrumented, and nothing else is left out."""
import json
import os
import subprocess
import sys
import tempfile

SOURCE = """
struct in { int a, b; };
struct s { int kept, hits; struct in limits; int items[4]; };
struct t { int x; };
struct s s;
struct t t;
int debug_level, level;
static void __attribute__((noinline)) trace_it(void) { level++; }
int main(void)
{
	s.kept++; s.hits++; s.limits.a++; s.limits.b++; s.items[debug_level & 3]++; t.x++; debug_level++; trace_it();
	return 0;
}
"""
ALL = {"s.kept", "s.hits", "s.limits.a", "s.limits.b", "s.items[]", "t.x", "debug_level", "level"}
CASES = (
    ("# nothing\n", set()),
    ("ignore member s.hits\n", {"s.hits"}),
    ("ignore member s.limits\n", {"s.limits.a", "s.limits.b"}),
    ("ignore member s.limits.b\n", {"s.limits.b"}),
    ("ignore member s.items[]\n", {"s.items[]"}),
    ("ignore member s.items\n", {"s.items[]"}),
    ("ignore member s.h*\n", {"s.hits"}),
    ("ignore type t\nignore variable debug_*   # and why\n", {"t.x", "debug_level"}),
    ("ignore function trace_*\n", {"level"}),
    ("unit function main\nset a s.kept\nignore variable other.c:level\n", set()),
)
BAD = ("ignore\n", "ignore members s.hits\n", "ignore type a b\n", "ignore variable\n")


def main():
    atomsan = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("p.c", "w") as file:
            file.write(SOURCE)
        for text, left_out in CASES:
            with open("spec", "w") as file:
                file.write(text)
            subprocess.run([atomsan, "cc", "--spec=spec", "p.c", "-o", "p"], check=True)
            subprocess.run([atomsan, "record", "-o", "p.atr", "--", "./p"], check=True)
            dump = subprocess.run([atomsan, "dump", "--sites", "--json", "p.atr"], check=True, stdout=subprocess.PIPE)
            found = {site["variable"] for site in json.loads(dump.stdout)["sites"] if "variable" in site}
            if found != ALL - left_out:
                sys.exit(f"'{text}': expected {sorted(ALL - left_out)}, found {sorted(found)}")
        os.mkdir("tmp")
        for text in BAD:
            with open("spec", "w") as file:
                file.write("\n" + text)
            done = subprocess.run([atomsan, "cc", "--spec=spec", "p.c", "-o", "p"], stderr=subprocess.PIPE, text=True,
                                  env=dict(os.environ, TMPDIR=os.path.abspath("tmp")))
            if not done.returncode or "spec:2: expected 'ignore" not in done.stderr:
                sys.exit(f"'{text}' is taken, or refused with '{done.stderr}'")
            if os.listdir("tmp"):
                sys.exit(f"'{text}': the compiler left {os.listdir('tmp')} behind")


main()
