#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""guarded.py ATOMSAN SOURCE: what a lock keeps whole is learned as such, and a build for the field has no code for it.

Unless somebody asks for it: a person by 'heal lock', or a finding.
"""
import pathlib
import re
import subprocess
import sys
import tempfile


def fail(text):
    sys.exit(f"guarded.py: {text}")


def run(*words):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        fail(f"{' '.join(map(str, words))} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def code(program):
    return run("objdump", "-d", "--no-show-raw-insn", program).split("\n", 3)[3]


def main():
    atomsan, source = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        learned = folder / "learned"

        def build(name, sections, *flags):
            """A build that is healed of these, and whether it differs from one that is healed of nothing."""
            table = folder / "table"
            table.write_text(head + "".join(sections))
            run(atomsan, "cc", f"--heal={table}", "-O2", "-g", "-pthread", *flags, source, "-o", folder / name)
            run(folder / name)
            return code(folder / name) != code(folder / "none")

        run(atomsan, "cc", "-O2", "-g", "-pthread", source, "-o", folder / "tested")
        run(atomsan, "learn", "--runs=2", "--undisturbed", f"--repository={learned}", "--", folder / "tested")
        head, *blocks = re.split(r"^(?=section )", learned.read_text(), flags=re.M)
        found = {}
        for block in blocks:
            entry = re.search(r"entry R shared\.(\w+) count_\w+ ", block)
            if entry and re.search(r"^  end W ", block, re.M):
                found[entry[1]] = block
        if set(found) != {"inside", "across"}:
            fail(f"two sections were to be learned:\n{learned.read_text()}")
        if not re.search(r"from learned 2 runs \d+ times guarded$", found["inside"], re.M):
            fail(f"the lock is held from entry to end:\n{found['inside']}")
        if "times guarded" in found["across"]:
            fail(f"the lock is let go in between:\n{found['across']}")
        (folder / "empty").write_text(head)
        run(atomsan, "cc", f"--heal={folder / 'empty'}", "-O2", "-g", "-pthread", source, "-o", folder / "none")
        if build("inside", [found["inside"]]):
            fail("there is code for a section that a lock keeps whole")
        if not build("across", [found["across"]]):
            fail("there is no code for a section that a lock does not keep whole")
        if not build("asked", [found["inside"] + "  heal lock\n"]):
            fail("there is no code for a section that somebody asks for")
        if not build("finding", [found["inside"] + "  from finding F-1 open\n"]):
            fail("there is no code for a section that a finding is about")
        # A later run in which the lock was not held takes the word back.
        (folder / "later").write_text(learned.read_text().replace(" times guarded", " times"))
        run(atomsan, "learn", "--runs=1", "--undisturbed", f"--repository={folder / 'later'}", "--", folder / "tested")
        if "times guarded" in (folder / "later").read_text():
            fail("one run that was guarded made all of them so")


main()
