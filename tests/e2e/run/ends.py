# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ends.py ATOMSAN SEQUENCE ends.c: a program that is being checked may end in any way, and so may its checker.

Each case runs the program with SEQUENCE as its checker, which reads everything, sums up the order, and claims
to have found as many violations as it is told to.
"""
import os
import subprocess
import sys
import tempfile
import time

PATIENCE = 60  # seconds until something that must appear counts as missing


class Case:
    def __init__(self, folder, program, sequence):
        self.folder, self.program, self.sequence = folder, program, sequence
        self.number = 0

    def start(self, how, options="", **environment):
        """The process, and the folder in which its checkers leave their sums."""
        self.number += 1
        self.sums = os.path.join(self.folder, f"sums{self.number}")
        self.trace = os.path.join(self.folder, f"trace{self.number}")
        os.mkdir(self.sums)
        return subprocess.Popen(
            [self.program, how], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=dict(os.environ, SEQUENCE=self.sums, **environment,
                     ATOMSAN_OPTIONS=f"check=1:checker={self.sequence}:record={self.trace}:buffer=1:all_calls=1:{options}"))

    def read_all(self, checkers):
        """What so many checkers have summed up, and that it is what the kept traces say."""
        until = time.monotonic() + PATIENCE
        while True:
            done = sorted(name for name in os.listdir(self.sums) if not name.startswith("unfinished"))
            if len(done) >= checkers or time.monotonic() > until:
                break
            time.sleep(0.01)
        if len(done) != checkers:
            sys.exit(f"{self.how}: {len(done)} checkers came to an end, not {checkers}")
        live = sorted(open(os.path.join(self.sums, name)).read() for name in done)
        traces = [os.path.join(self.folder, name) for name in os.listdir(self.folder)
                  if name == os.path.basename(self.trace) or name.startswith(os.path.basename(self.trace) + ".")]
        kept = sorted(subprocess.run([self.sequence, trace], check=True, stdout=subprocess.PIPE, text=True).stdout
                      for trace in traces)
        if live != kept:
            sys.exit(f"{self.how}: while it ran {live}, in the traces {kept}")
        return [int(text.split()[0]) for text in live]

    def run(self, how, status, checkers=1, least=20000, errors="", options="", said=True, **environment):
        self.how = how
        process = self.start(how, options, **environment)
        output, complaints = process.communicate()
        if process.returncode != status:
            sys.exit(f"{how}: the status is {process.returncode}, not {status}: {complaints}")
        if said and output != how + "\n":
            sys.exit(f"{how}: the output is {output!r}")
        if (errors not in complaints) if errors else complaints:
            sys.exit(f"{how}: on standard error: {complaints!r}, not {errors!r}")
        if checkers:
            events = self.read_all(checkers)
            if min(events) < least:
                sys.exit(f"{how}: {events} events are too few")
        print(how, status, events if checkers else "")


def main():
    atomsan, sequence, source = (os.path.abspath(word) for word in sys.argv[1:4])
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "ends")
        subprocess.run([atomsan, "cc", "-O1", "-g", "-pthread", source, "-o", program], check=True)
        case = Case(folder, program, sequence)
        # Nothing found: the program's own status. Something found: 66, or what exitcode says, unless a
        # signal ends it or another program takes its place.
        case.run("return", 0)
        case.run("return", 66, FINDINGS="2")
        case.run("return", 99, FINDINGS="2", options="exitcode=99")
        case.run("return", 0, FINDINGS="2", options="exitcode=0")
        case.run("_exit", 4, said=False)
        case.run("_exit", 66, said=False, FINDINGS="1")
        case.run("quick_exit", 5, said=False)
        case.run("quick_exit", 66, said=False, FINDINGS="1")
        case.run("thread", 3)
        case.run("busy", 6)
        case.run("busy", 66, FINDINGS="1")
        case.run("abort", -6, said=False, FINDINGS="1")
        case.run("crash", -11, said=False)
        case.run("kill", -9, said=False)
        case.run("exec-other", 7, said=False)
        case.run("longjmp", 0, least=300000)
        # Other processes.
        case.run("exec", 0, checkers=2, said=False)
        case.run("fork", 0, checkers=2, said=False)
        case.run("fork-alone", 0, said=False)
        case.run("daemon", 0, checkers=2, said=False)
        case.run("close", 0, least=200000)
        # The checker's own end.
        case.run("long", 0, checkers=0, errors="the checker is gone; the program goes on", DIE="30000")
        case.run("return", 0, checkers=0, errors="the checker ended before its work was done", DIE="end")
        case.run("return", 0, checkers=0, errors="cannot be started", options=f"checker={folder}/none")
        # An end that the checker asks for, of a program that writes and of one that sleeps.
        case.run("long", 66, said=False, HALT="60000")
        case.run("sleep", -9, said=False, least=1, HALT="1")


main()
