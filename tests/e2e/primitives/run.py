#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run.py ATOMSAN FILE.expect: compile a program, record it, compare the trace with what must be in it.

An expectation has one event a line, in the order of stamps:

    T1 lock m try            thread, operation, object (a name that the program printed, or -), flags
    T0 create - value=T1     value and other: a number, a name, a thread, or an errno

Between "unordered" and "end" the threads' events may be mixed in any way, each thread's in order.
Every operation of the trace must be there, but for those on objects without a name (libraries have
locks and blocks of their own), accesses, and function marks. Lines that begin with @ are about the whole:

    @program FILE      if the name differs; @shared FILE is built as a shared object beside it
    @args A B          of the program
    @options A=B       for the runtime
    @status exit N     how the program must end; "signal N" if killed
    @state finished    what the trace must say of itself
    @exit-status N     the same, as in wait(2)
    @trace N           what follows is about the N-th trace, in the order of process ids; from 0
    @traces N          how many traces there must be
    @ignore OP         leave these operations out
"""
import errno
import glob
import json
import os
import subprocess
import sys
import tempfile

FLAGS = {"try": 1, "timed": 2, "recursive": 4, "spin": 8, "rw": 16, "ownerdead": 32, "c11": 64}


def fail(message):
    sys.exit("run.py: " + message)


class Expectation:
    def __init__(self, path):
        self.program = os.path.splitext(path)[0]
        self.shared = []
        self.options = []
        self.args = []
        self.status = ("exit", 0)
        self.traces = None
        self.ignore = set()
        self.per_trace = {0: {"groups": []}}
        trace = self.per_trace[0]
        folder = os.path.dirname(path)
        ordered = True
        for number, line in enumerate(open(path), 1):
            words = line.split("#")[0].split()
            if not words:
                continue
            head, rest = words[0], words[1:]
            if head == "@program":
                self.program = os.path.join(folder, rest[0])
            elif head == "@shared":
                self.shared.append(os.path.join(folder, rest[0]))
            elif head == "@args":
                self.args += rest
            elif head == "@options":
                self.options += rest
            elif head == "@status":
                self.status = (rest[0], int(rest[1]))
            elif head == "@ignore":
                self.ignore.update(rest)
            elif head == "@traces":
                self.traces = int(rest[0])
            elif head == "@trace":
                trace = self.per_trace.setdefault(int(rest[0]), {"groups": []})
            elif head in ("@state", "@exit-status"):
                trace[head[1:]] = rest[0]
            elif head == "unordered":
                ordered = False
                trace["groups"].append([])
            elif head == "end":
                ordered = True
            elif head.startswith("@"):
                fail(f"{path}:{number}: unknown {head}")
            else:
                if ordered:
                    trace["groups"].append([])
                trace["groups"][-1].append((number, words))
        if self.traces is None:
            self.traces = len(self.per_trace)


def find_source(stem):
    if os.path.exists(stem) and os.path.splitext(stem)[1]:
        return stem
    for suffix in (".c", ".cc"):
        if os.path.exists(stem + suffix):
            return stem + suffix
    fail(f"no program {stem}.c or .cc")


def build(atomsan, source, output, *flags):
    verb = "c++" if source.endswith(".cc") else "cc"
    subprocess.run([atomsan, verb, "-g", "-O1", "-pthread", "-D_GNU_SOURCE", *flags, source, "-o", output], check=True)


def load(atomsan, path):
    """The trace as (summary, operations); each operation has thread, op, flags, object, value, other."""
    text = subprocess.run([atomsan, "dump", "--json", path], check=True, stdout=subprocess.PIPE).stdout
    document = json.loads(text)
    return document, [event for event in document["events"] if event.get("op") not in (None, "enter", "exit")]


def describe(event, names):
    def name(value):
        return names.get(value, value)

    flags = " ".join(flag for flag, bit in FLAGS.items() if event["flags"] & bit)
    return (f"T{event['thread']} {event['op']} {name(event['object']) or '-'} {flags} "
            f"value={name(event['value'])} other={name(event['other'])}")


def number_of(word, objects, pids):
    if word.startswith("T") and word[1:].isdigit():
        return int(word[1:])
    if word in objects:
        return objects[word]
    if word == "child":
        return pids
    if word == "none":
        return 0xFFFFFFFF
    if hasattr(errno, word):
        return getattr(errno, word)
    return int(word, 0)


def matches(event, words, objects, child):
    thread, op, rest = words[0], words[1], words[2:]
    if f"T{event['thread']}" != thread or event["op"] != op:
        return False
    wanted = rest[0] if rest else "-"
    if wanted == "-":
        if event["object"] not in (0, None):
            return False
    elif wanted != "*" and event["object"] != objects.get(wanted):
        return False
    flags = 0
    for word in rest[1:]:
        key, equals, value = word.partition("=")
        if not equals:
            flags |= FLAGS[word]
        elif value != "*" and event[key] != number_of(value, objects, child):
            return False
    return event["flags"] == flags


def compare(expectation, index, document, events, objects, child):
    wanted = expectation.per_trace[index]
    names = {address: name for name, address in objects.items()}
    shown = "\n".join("  " + describe(event, names) for event in events)
    position = 0

    for group in wanted["groups"]:
        queues = {}
        for line in group:
            queues.setdefault(line[1][0], []).append(line)
        for _ in group:
            if position == len(events):
                number, words = next(queue[0] for queue in queues.values() if queue)
                fail(f"line {number}: {' '.join(words)}: missing at the end of trace {index}:\n{shown}")
            event = events[position]
            queue = queues.get(f"T{event['thread']}")
            if not queue or not matches(event, queue[0][1], objects, child):
                expected = " | ".join(f"line {q[0][0]}: {' '.join(q[0][1])}" for q in queues.values() if q)
                fail(f"trace {index}, event {position}: {describe(event, names)}; expected {expected}\n{shown}")
            queue.pop(0)
            position += 1
    if position < len(events):
        fail(f"trace {index}: not expected: {describe(events[position], names)}\n{shown}")
    for key in ("state", "exit-status"):
        if key in wanted and str(document[key.replace("-", "_")]) != wanted[key]:
            fail(f"trace {index}: {key} is {document[key.replace('-', '_')]}, must be {wanted[key]}")


def main():
    atomsan, path = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    expectation = Expectation(path)
    with tempfile.TemporaryDirectory() as folder:
        for source in expectation.shared:
            stem = os.path.splitext(os.path.basename(source))[0]
            build(atomsan, source, os.path.join(folder, stem + ".so"), "-shared", "-fPIC")
        program = os.path.join(folder, "program")
        build(atomsan, find_source(expectation.program), program, "-rdynamic")
        trace = os.path.join(folder, "t.atr")
        env = dict(os.environ, ATOMSAN_OPTIONS=":".join(expectation.options))
        done = subprocess.run([atomsan, "record", "-o", trace, "--", program, *expectation.args], cwd=folder, env=env,
                              stdout=subprocess.PIPE, timeout=120)
        kind, code = expectation.status
        status = code if kind == "exit" else 128 + code
        if done.returncode not in (status, -code if kind == "signal" else status):
            fail(f"the program ended with {done.returncode}, must be {kind} {code}")
        objects = {}
        for line in done.stdout.decode().splitlines():
            name, address = line.split()
            objects[name] = int(address, 16)
        # The first process has the file that was asked for, its children have their pid behind it.
        traces = [trace] + sorted(glob.glob(trace + ".*"), key=lambda p: int(p.split(".")[-1]))
        if len(traces) != expectation.traces:
            fail(f"{len(traces)} traces, must be {expectation.traces}: {traces}")
        child = int(traces[1].split(".")[-1]) if len(traces) > 1 else None
        for index in expectation.per_trace:
            document, events = load(atomsan, traces[index])
            considered = [e for e in events
                          if e["op"] not in expectation.ignore
                          and (e["op"] == "start" or not e["object"] or e["object"] in objects.values())]
            compare(expectation, index, document, considered, objects, child)


main()
