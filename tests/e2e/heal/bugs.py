#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bugs.py BUILD: a workload of the bench with bugs is healed as bench/run does it.

What lint and predict find in it makes at least ten sections. In the build for the field each of them closes gates when
it is passed, and nothing that must hold is broken in any run; the result is what it is without bugs.
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import types
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[3]
RUNS, SIZE = 5, ["-n", "300000"]


def main():
    loader = SourceFileLoader("bench_run", str(ROOT / "bench" / "run"))
    run = module_from_spec(spec_from_loader("bench_run", loader))
    loader.exec_module(run)
    build, source = pathlib.Path(sys.argv[1]).resolve(), ROOT / "bench" / "workloads" / "hashmap.c"
    with tempfile.TemporaryDirectory() as folder:
        bench = run.Bench(build, pathlib.Path(folder), types.SimpleNamespace(quick=True))
        plain, healed = bench.build("plain", source), bench.build("heal", source)
        # Many more than in the bench: threads are to be in each other's way.
        hot = bench.compile(bench.compiler("heal", source), source, pathlib.Path(folder) / "hot", ["-O2", "-DBUGS=64"])
        sections, gates, passed = bench.passed(healed, SIZE)
        if gates < run.SECTIONS or gates != sections or not passed:
            sys.exit(f"bugs.py: {sections} sections, {gates} with gates, passed {passed} times")
        expected = subprocess.run([plain, *SIZE], stdout=subprocess.PIPE, check=True).stdout
        for program in (healed, hot) * RUNS:
            done = subprocess.run([program, *SIZE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)
            broken = re.search(rb"(\d+) requests, (\d+) of", done.stderr)
            if done.returncode or done.stdout != expected or not broken or not int(broken[1]) or int(broken[2]):
                sys.exit(f"bugs.py: {program.name}: status {done.returncode}: {done.stdout}{done.stderr}")
    print(f"{sections} sections, passed {passed} times in one run, and nothing was broken in {2 * RUNS}")


main()
