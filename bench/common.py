# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the parts of the bench share: measured commands, and how rows are shown."""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def fail(text):
    sys.exit(f"{os.path.basename(sys.argv[0])}: {text}")


def measure(words, statuses=(0, 66), **how):
    """(CPU seconds, peak bytes, standard output) of one process and the children it waited for."""
    process = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, **how)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in statuses:
        fail(f"{' '.join(map(str, words))} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, output


def compile_with(atomsan, source, program, *flags):
    measure([atomsan, "c++" if source.suffix == ".cc" else "cc", "-O2", "-g", "-pthread", *flags, source, "-o", program], (0,))


def record(atomsan, program, trace, threads, events):
    """A trace with about this many events, by finding the size of the run that has them; how many it has."""
    size, found = 20000, 0
    for _ in range(4):
        measure([atomsan, "record", "-o", trace, "--", program, "-t", threads, "-n", size], (0,))
        _, _, output = measure([atomsan, "dump", "--json", "--stats", trace], (0,))
        found = json.loads(output)["counts"]["events"]
        if 0.9 < found / events < 1.15:
            break
        size = max(1000, int(size * events / found))
    return found


class Rows:
    """Rows of one part: shown as they come, or all at once as JSON."""

    def __init__(self, as_json, columns):
        self.as_json = as_json
        self.columns = columns  # (heading, width, function of a row)
        self.rows = []
        if not as_json:
            print("  ".join(f"{heading:>{width}}" for heading, width, _ in columns), flush=True)

    def add(self, **row):
        self.rows.append(row)
        if not self.as_json:
            print("  ".join(f"{cell(row):>{width}}" for _, width, cell in self.columns), flush=True)

    def end(self, **more):
        if self.as_json:
            print(json.dumps({"version": 1, "rows": self.rows, **more}, indent=1))


def arguments_of(doc, *more):
    """BUILD, --quick, --json, and what else a part takes; `atomsan` is that of the build."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true", help="a tenth of the work: does it all work?")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of a table")
    for names, how in more:
        parser.add_argument(*names, **how)
    arguments = parser.parse_args()
    arguments.atomsan = arguments.build.resolve() / "atomsan"
    if not os.access(arguments.atomsan, os.X_OK):
        fail(f"there is no atomsan in {arguments.build}; build it first")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return arguments
