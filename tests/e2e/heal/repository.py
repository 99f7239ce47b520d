#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""repository.py ATOMSAN CORPUS: where sections come from, and what becomes of repositories that do not fit.

From a finding to a healed program and a verified one; a damaged repository, one of another build, one that names
nothing; a program for the field without sections, which must be the one that clang alone makes.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

LIMIT = 120


def fail(text):
    sys.exit(f"repository.py: {text}")


def run(*words, status=0, **more):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, timeout=LIMIT, check=False, **more)
    if status is not None and done.returncode != status:
        fail(f"{' '.join(map(str, words))}: status {done.returncode}, not {status}: {done.stdout}{done.stderr}")
    return done


def expect(text, part, what):
    if part not in text:
        fail(f"{what}: '{part}' is not in '{text}'")


def code(program):
    """What the program does, as the disassembler has it, without the file's name."""
    return run("objdump", "-d", "--no-show-raw-insn", program).stdout.split("\n", 3)[3]


def main():
    atomsan, corpus = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    original = (corpus / "wrong/account_update/account_update.c").read_text().replace("../../stage.h",
                                                                                     str(corpus / "stage.h"))
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        source, program, table = pathlib.Path("program.c"), "./program", pathlib.Path("program.atomicity")
        source.write_text(original)
        run(atomsan, "cc", "-g", "-O2", "-pthread", source, "-o", program)

        # Nothing is known yet.
        said = run(atomsan, "heal", "--", program, status=1)
        expect(said.stderr, "there is nothing to heal", "no findings")

        # A schedule that fails is found; healing makes it impossible.
        run(atomsan, "explore", "--budget=100", "--stop-at-first", "--jobs=1", "--seed=1", "--", program, status=66)
        document = json.loads(run(atomsan, "heal", "--verify", "--times=2", "--json", "--", program).stdout)
        for schedule in document["schedules"]:
            if schedule["without"]["failed"] != 2 or schedule["healed"]["failed"]:
                fail(f"verified: {schedule}")
        finding = document["schedules"][0]["finding"]
        expect(run(atomsan, "heal", "--verify", finding, "--", program).stdout, "0 of 1 failed", "one finding")
        expect(run(atomsan, "heal", "--verify", "F-0000", "--", program, status=1).stderr, "there is no",
               "a finding that is not there")
        if table.exists():
            fail("a repository was left that nobody asked for")

        # Kept as a repository; under random schedules the program is whole, and the finding is noted as healed.
        run(atomsan, "heal", "--from-findings", "--", program)
        text = table.read_text()
        expect(text, f"from finding {finding}", "the repository")
        broken = healed = 0
        for seed in range(1, 9):
            chance = f"sched=random:seed={seed}"
            broken += run(program, status=None, env=dict(os.environ, ATOMSAN_OPTIONS=chance)).returncode != 0
            healed += run(atomsan, "heal", "--quiet", "--", program, status=None,
                          env=dict(os.environ, ATOMSAN_OPTIONS=chance)).returncode != 0
        if not broken or healed:
            fail(f"of 8 random schedules {broken} failed, and {healed} with healing")
        listed = json.loads(run(atomsan, "list", "--json", status=None).stdout)
        if [f["state"] for f in listed["findings"] if f["id"] == finding] != ["healed"]:
            fail(f"the store does not say that it is healed: {listed}")

        # An end that is damaged: said, and the program runs on.
        pathlib.Path("damaged").write_text(text + "section A-1 x\n  entry sideways\n")
        said = run(program, env=dict(os.environ, ATOMSAN_OPTIONS="heal=1:repository=damaged"))
        expect(said.stderr, "is damaged in line", "a damaged repository")
        expect(said.stdout, "expected 110, got 110", "a damaged repository")
        said = run(atomsan, "heal", "--no-store", "--repository=damaged", "--", program)
        expect(said.stderr, "the 1 sections before it are healed", "the tool and a damaged repository")
        expect(said.stdout, "expected 110, got 110", "the tool and a damaged repository")
        if said.stderr.count("damaged") != 1:
            fail(f"the tool and a damaged repository: not one sentence: {said.stderr}")
        left = pathlib.Path("damaged").read_text()
        expect(run(atomsan, "heal", "--from-findings", "--repository=damaged", "--", program, status=1).stderr, "damaged:",
               "adding to a damaged repository")
        if pathlib.Path("damaged").read_text() != left:
            fail("a damaged repository was written over")
        said = run(atomsan, "cc", "--heal=damaged", "-O2", "-pthread", source, "-o", "field")
        expect(said.stderr, "the 1 sections before it are healed", "the compiler and a damaged repository")

        # Nothing in it that could be healed: one sentence, and the program runs on; no program is built for that.
        pathlib.Path("nothing").touch()
        pathlib.Path("garbage").write_bytes(bytes(range(256)))
        pathlib.Path("later").write_text("atomicity 99\n")
        pathlib.Path("cut").write_text(text[:text.index("  end")])
        for name in ("nothing", "garbage", "later", "cut", "missing", "."):
            for words in (["heal", f"--repository={name}", "--", program], ["cc", f"--heal={name}", source, "-o", "refused"]):
                if words[0] == "heal" and name not in ("missing", "."):
                    said = run(atomsan, *words, status=None)
                    expect(said.stdout, "expected 110", name)
                    if not re.fullmatch(r"atomsan heal: .*; nothing is healed\n", said.stderr):
                        fail(f"{words}: {said.stderr}")
                    continue
                said = run(atomsan, *words, status=1)
                if said.stderr.count("\n") != 1 or not said.stderr.startswith(f"atomsan {words[0]}: ") or said.stdout:
                    fail(f"{words}: {said.stdout}{said.stderr}")
            if pathlib.Path("refused").exists():
                fail(f"--heal={name}: a program was made")
            if name not in ("missing", "."):
                before = pathlib.Path(name).read_bytes()
                run(atomsan, "learn", "--runs=1", f"--repository={name}", "--", program, status=1)
                if pathlib.Path(name).read_bytes() != before:
                    fail(f"learn has written over {name}, which it did not understand")
            said = run(program, status=None, env=dict(os.environ, ATOMSAN_OPTIONS=f"heal=1:repository={name}"))
            expect(said.stderr, "atomsan: ", f"by hand, {name}")
            expect(said.stdout, "expected 110", f"by hand, {name}")

        # How the program ends is how healing ends.
        pathlib.Path("ends.c").write_text("#include <signal.h>\n#include <stdlib.h>\nint main(int n, char **w)\n"
                                          "{ return n > 2 ? raise(atoi(w[2])) : atoi(w[1]); }\n")
        run(atomsan, "cc", "-g", "ends.c", "-o", "ends")
        for words, status in ((["0"], 0), (["7"], 7), (["127"], 127), (["0", "15"], -15), (["0", "9"], -9)):
            temporary = tempfile.mkdtemp(dir=scratch)
            run(atomsan, "heal", f"--repository={table}", "--", "./ends", *words, status=status,
                env=dict(os.environ, TMPDIR=temporary))
            if os.listdir(temporary):
                fail(f"{words}: something was left in the temporary folder: {os.listdir(temporary)}")
        expect(run(atomsan, "heal", f"--repository={table}", "--", source, status=1).stderr, "program", "no program")
        expect(run(atomsan, "heal", f"--repository={table}", "--", "/bin/true", status=1).stderr, "built with",
               "a program of others")
        expect(run(atomsan, "heal", "--", program, status=1, env=dict(os.environ, TMPDIR="/there/is/none")).stderr,
               "/there/is/none", "TMPDIR")

        # Of shared objects: in a tested build they are healed, for the field they are refused.
        pathlib.Path("part.c").write_text("struct part { long value; };\nvoid bump(struct part *p);\nvoid bump(struct part *p)\n{\n"
                                          "\tlong value = p->value;\n\t__asm__ volatile(\"\" : \"+r\"(value));\n\tp->value = value + 1;\n}\n")
        pathlib.Path("whole.c").write_text("#include <pthread.h>\nstruct part { long value; };\nvoid bump(struct part *p);\nstatic struct "
                                           "part part;\nstatic void *work(void *n)\n{\n\tfor (int i = 0; i < 500; i++)\n\t\tbump(&part);\n"
                                           "\treturn n;\n}\nint main(void)\n{\n\tpthread_t other;\n\tpthread_create(&other, 0, work, 0);\n\twork(0);"
                                           "\n\tpthread_join(other, 0);\n\treturn part.value != 1000;\n}\n")
        pathlib.Path("parts").write_text("atomicity 1\nsection A-7 part.value\n  entry R part.value bump part.c:5:0\n"
                                         "  end W part.value bump part.c:7:0\n")
        run(atomsan, "cc", "-g", "-O2", "-fPIC", "-shared", "part.c", "-o", "part.so")
        run(atomsan, "cc", "-g", "-O2", "-pthread", "whole.c", "./part.so", "-o", "whole")
        said = run(atomsan, "heal", "--json", "--repository=parts", "--", "./whole")
        if json.loads(said.stdout)["sections"][0]["entered"] != 1000 or "not healed" in said.stderr:
            fail(f"a section of a shared object: {said.stdout}{said.stderr}")
        said = run(atomsan, "cc", "--heal=parts", "-O2", "-fPIC", "-shared", "part.c", "-o", "field.so", status=1)
        expect(said.stderr, "shared objects are not healed in the field", "a shared object for the field")
        if pathlib.Path("field.so").exists():
            fail("a shared object was made that would not be healed")
        run(atomsan, "cc", "--heal=parts", "-O2", "-fPIC", "-shared", "ends.c", "-o", "field.so")
        run(atomsan, "cc", "--heal=parts", "-O2", "-pthread", "whole.c", "part.c", "-o", "field")
        run("./field")

        # Edited elsewhere, the section is found again; edited itself, it is missed by name.
        source.write_text("/* one line\n more */\n" + original)
        run(atomsan, "cc", "-g", "-O2", "-pthread", source, "-o", program)
        said = json.loads(run(atomsan, "heal", "--json", "--", program).stdout.split("\n", 1)[1])
        if said["sections"][0]["entered"] != 20:
            fail(f"moved lines: {said}")
        source.write_text(original.replace("balance = a->balance;", "balance = a->balance; balance = a->balance + balance * 0;"
                                           ).replace("long balance;\n};", "volatile long balance;\n};"))
        run(atomsan, "cc", "-g", "-O2", "-pthread", source, "-o", program)
        pathlib.Path("exact").write_text(text.replace(f"  from finding {finding} healed\n", "").replace(
            f"  from finding {finding} reproduced\n", "").replace("account_update.c:36", "account_update.c:336").replace(
                "program.c:36", "program.c:336"))
        # Not healed, it may fail.
        said = run(program, status=None, env=dict(os.environ, ATOMSAN_OPTIONS="heal=1:repository=exact"))
        expect(said.stderr, "is not healed: the program has no access to account.balance", "an edited function")
        said = run(atomsan, "cc", "--heal=exact", "-O2", "-pthread", source, "-o", "field")
        expect(said.stderr, "has no access to account.balance", "the compiler and an edited function")

        # Without a section that is in it, a program for the field is the one that clang makes.
        pathlib.Path("empty").write_text("atomicity 1\n")
        pathlib.Path("foreign").write_text("atomicity 1\nsection A-2 other.thing\n  entry R other.thing f f.c:1:1\n"
                                           "  end W other.thing f f.c:2:1\n")
        run(run(atomsan, "cc", "--print", "compiler").stdout.strip(), "-g", "-O2", "-pthread", source, "-o", "plain")
        for name in ("empty", "foreign"):
            run(atomsan, "cc", f"--heal={name}", "-O2", "-pthread", source, "-o", "field")
            if code("field") != code("plain"):
                fail(f"{name}: a program without sections is not what clang makes of it")
        run(atomsan, "cc", f"--heal={table}", "-O2", "-pthread", source, "-o", "field")
        if code("field") == code("plain"):
            fail("a program with a section is what clang makes of it")
        expect(run(atomsan, "cc", "--heal=nowhere", source, "-o", "field", status=1).stderr, "nowhere", "no repository")
    print("all as expected")


main()
