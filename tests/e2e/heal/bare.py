#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bare.py ATOMSAN SOURCE GUARDS: which locks of a build for the field are bare, and that they are where somebody has to know of them.

How many calls of each function are bare is said behind it in the source. A bare one has a call of the runtime for when there is
something to look at.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

LIMIT = 100  # seconds


def fail(text):
    sys.exit(f"bare.py: {text}")


def run(*words, **more):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=LIMIT, check=False, **more)
    if done.returncode:
        fail(f"{' '.join(map(str, words))} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done


def repository(source, path):
    where = {kind: number for number, line in enumerate(source.read_text().splitlines(), 1)
             for kind in re.findall(r"/\* (entry|end) \*/", line)}
    path.write_text(f"""atomicity 1
program bare
section A-00000001 shared.value
  entry R shared.value get {source.name}:{where['entry']}:0
  end W shared.value set {source.name}:{where['end']}:0 allow none
  unit add {source.name}
""")


def expected(source):
    return {name: (int(bare), int(all_)) for name, bare, all_ in
            re.findall(r"^(?:APART |__attribute__\(\(noinline\)\) )?\w[\w ]*?\*?(\w+)\([^;{]*\)\n\{\n.*?^\} /\* bare (\d+) of (\d+) \*/$", source, re.M | re.S)}


def found(text):
    """Of each function: bare calls, and all that lock."""
    counts = {}
    for name, body in re.findall(r"^define [^@]*@(\w+)\(.*?\{\n(.*?)^\}", text, re.M | re.S):
        runtime = len(re.findall(r"call [^@]*@__atomsan_heal_lock\(", body))
        plain = len(re.findall(r"call [^@]*@(?:pthread_mutex_lock|pthread_rwlock_(?:rd|wr)lock|pthread_spin_lock|mtx_lock)\(", body))
        counts[name] = (runtime, runtime + plain)
    return counts


def check(compiler, source, levels, folder):
    """The repository for this source, once all its functions are as they say."""
    table = folder / f"{source.name}.atomicity"
    repository(source, table)
    text = source.read_text()
    wanted = expected(text)
    if len(wanted) != len(re.findall(r"/\* bare \d+ of \d+ \*/", text)):
        fail(f"{source.name}: some comments belong to no function")
    for level in levels:
        run(*compiler, f"--heal={table}", "-g", level, "-S", "-emit-llvm", source, "-o", folder / "bare.ll")
        counts = found((folder / "bare.ll").read_text())
        wrong = [f"{name}: bare {counts.get(name)}, expected {want}" for name, want in wanted.items()
                 if counts.get(name) != want]
        if wrong:
            fail(f"{source.name}, {level}: " + "; ".join(wrong))
    return table


def main():
    atomsan = os.path.abspath(sys.argv[1])
    source, guards = (pathlib.Path(name).resolve() for name in sys.argv[2:4])
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        table = check([atomsan, "cc", "-fno-inline"], source, ("-O1", "-O2", "-O3"), folder)
        # Guards are to be inlined, and units are not.
        check([atomsan, "c++", "-std=c++17"], guards, ("-O2", "-O3"), folder)
        # Where nothing is healed the code is clang's.
        (folder / "plain.c").write_text("#include <pthread.h>\nint f(pthread_mutex_t *m)\n{\n\tpthread_mutex_lock(m);\n"
                                        "\treturn pthread_mutex_unlock(m);\n}\n")
        run(atomsan, "cc", f"--heal={table}", "-O2", "-c", folder / "plain.c", "-o", folder / "plain.o")
        if "atomsan" in run("nm", folder / "plain.o").stdout:
            fail("a file in which nothing is healed calls the runtime")
        (folder / "unknown.c").write_text("void unknown(void) {}\n")
        # Who holds a bare lock and waits at a gate is waited for in turn: that must be seen, long before the limit.
        for level in ("-O0", "-O2"):
            run(atomsan, "cc", f"--heal={table}", "-g", level, "-pthread", source, folder / "unknown.c", "-o", folder / "bare")
            said = run(folder / "bare", env=dict(os.environ, ATOMSAN_OPTIONS="heal_timeout=20000:verbosity=1")).stderr
            counts = re.search(r"was entered (\d+) times, healed (\d+), by scheduling (\d+), too late (\d+)", said)
            if not counts or counts[1] != "8000" or counts[4] != "0":
                fail(f"{level}: {said}")


main()
