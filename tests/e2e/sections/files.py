#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""files.py ATOMSAN: repositories that are damaged, missing or about another build, and what a program does with them."""
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

PROGRAM = """#include <pthread.h>
#include <stdio.h>
@
long total, other;
__attribute__((noinline)) void add(long n)
{
	long got = total;
	sched_yield();
	total = got + n;
	other = total;
}
static void *run(void *p)
{
	for (int i = 0; i < 100; i++)
		add(1);
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, run, 0);
	run(0);
	pthread_join(t, 0);
	puts("done");
	return 7;
}
"""


def run(*command, status=0, **settings):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, timeout=120, **settings)
    assert done.returncode == status, (command, done)
    return done


def main():
    atomsan = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source, program, path = folder / "p.c", folder / "p", folder / "p.atomicity"

        def build(text):
            source.write_text(text)
            run(atomsan, "cc", "-g", "-O0", source, "-o", program, "-pthread")

        def watched(text, status=7, **more):
            options = ":".join([f"repository={path}"] + [f"{k}={v}" for k, v in more.items()])
            done = run(program, status=status, env=dict(os.environ, ATOMSAN_OPTIONS=options))
            assert done.stdout == "done\n", done
            assert text in done.stderr if text else "atomsan" not in done.stderr, (text, done.stderr)
            return done.stderr

        build(PROGRAM.replace("@", ""))
        # Not there, damaged, of the future.
        watched("cannot be read; the program runs without it")
        path.write_text("atomicity 1\nsection A-1 total\n  entry R total add p.c:7:0\n  end X total add p.c:9:0\n")
        watched(f"{path}:4: a place is read (R) or written (W); the program runs without it")
        path.write_text("atomicity 9\n")
        watched("a version of the language that is not known here")
        path.write_bytes(bytes(range(256)) * 16)
        watched(f"{path}:1: this is no text")
        path.write_text("")
        watched("no atomicity repository")
        path.write_text("atomicity 1\n")
        watched("")

        # One section, as the runs give it, and the tool that reads what it wrote. It holds while a run is good.
        path.unlink()
        spec = folder / "spec"
        spec.write_text("section total entry p.c:7 end p.c:9\nsection total entry p.c:7 end p.c:10 allow RW\n")
        done = run(atomsan, "learn", f"--spec={spec}", "--", program)
        assert "2 sections" in done.stdout and "2 from" in done.stdout, done
        text = path.read_text()
        assert "entry R total add" in text and "allow RW" in text and "#1/" in text, text
        run(atomsan, "learn", f"--spec={spec}", "--", program)
        assert path.read_text() == text
        assert "2 of 2 sections" in run(program, status=7, env=dict(
            os.environ, ATOMSAN_OPTIONS=f"repository={path}:verbosity=1:exitcode=0")).stderr

        # Lines have moved: found by their ordinals, told of only when asked.
        build(PROGRAM.replace("@", "\n\n#define NOTHING\n"))
        out = run(program, status=7, env=dict(os.environ, ATOMSAN_OPTIONS=f"repository={path}:verbosity=1:exitcode=0")).stderr
        assert "2 of 2 sections" in out and "another build" in out, out
        # The function has changed: one more read of it, and nobody can tell which is which.
        build(PROGRAM.replace("@", "\n").replace("	sched_yield();", "	other = total;\n	sched_yield();\n"))
        out = run(program, status=7, env=dict(os.environ, ATOMSAN_OPTIONS=f"repository={path}:exitcode=0")).stderr
        assert "0 of 2 sections" in out and "over total in add has no entry" in out, out
        # Another program altogether.
        build(PROGRAM.replace("@", "").replace("add", "sum").replace("total", "amount"))
        out = run(program, status=7, env=dict(os.environ, ATOMSAN_OPTIONS=f"repository={path}:exitcode=0")).stderr
        assert "0 of 2 sections" in out, out
        # The tool moves what it finds and says what it does not.
        build(PROGRAM.replace("@", "\n\n#define NOTHING\n"))
        run(atomsan, "learn", "--runs=0", "--", program)
        assert "p.c:10:" in path.read_text() and path.read_text().count("section ") == 2, path.read_text()
        build(PROGRAM.replace("@", "").replace("add", "sum"))
        done = run(atomsan, "learn", "--runs=0", "--", program)
        assert "0 of 2 sections match the program" in done.stderr and "is gone" in done.stderr, done
        # A damaged one is refused and left alone.
        path.write_text("atomicity 1\nnonsense\n")
        done = run(atomsan, "learn", "--runs=0", "--", program, status=1)
        assert f"{path}:2: this line begins with no word" in done.stderr, done
        assert path.read_text() == "atomicity 1\nnonsense\n"
        # Statements about what is not there.
        path.unlink()
        spec.write_text("\nsection total entry p.c:2 end p.c:9\n")
        done = run(atomsan, "learn", f"--spec={spec}", "--", program, status=1)
        assert f"{spec}:2: the program has no access to total at p.c:2" in done.stderr, done
        spec.write_text("section total entry p.c:2\n")
        done = run(atomsan, "learn", f"--spec={spec}", "--", program, status=1)
        assert f"{spec}:1: expected 'section VARIABLE entry" in done.stderr, done
        assert not path.exists()
        # An executable that is damaged is refused, or its tables are as they were.
        whole, damaged = program.read_bytes(), folder / "damaged"
        table = struct.unpack_from("<Q", whole, 40)[0]
        for seed in range(60):
            chance = random.Random(seed)
            bytes_ = bytearray(whole)
            for _ in range(chance.randrange(1, 4)):
                # Most in the table of sections, some in what it leads to.
                at = chance.randrange(table, len(whole)) if seed % 3 else chance.randrange(len(whole))
                bytes_[at] = chance.randrange(256)
            damaged.write_bytes(bytes_ if seed % 10 else bytes_[:chance.randrange(len(whole))])
            damaged.chmod(0o755)
            done = subprocess.run([atomsan, "learn", "--runs=0", f"--repository={folder}/scratch", "--", damaged],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=60)
            assert done.returncode in (0, 1) and done.stderr.count("\n") <= 1, (seed, done)
        # A program that was not built with atomsan.
        run("cc", source, "-o", program, "-pthread")
        done = run(atomsan, "learn", "--", program, status=1)
        assert "was it built with 'atomsan cc'?" in done.stderr, done


main()
