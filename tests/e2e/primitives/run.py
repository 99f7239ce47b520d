#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run.py ATOMSAN FILE.expect [live]: compile a program, record it, compare the trace with what must be in it.

With "live" the trace is the one that `atomsan run` keeps.

An expectation has one event a line, in the order of stamps:

    T1 lock m try            thread, operation, object (a name that the program printed, or -), flags
    T0 create - child=T1     and fields as `atomsan dump --json` has them; a number, a name, a thread,
                             an errno, "pid" for the first child process, * for anything; in=NAME
                             is the innermost marked function that is open there

Between "unordered" and "end" the threads' events may be mixed in any way, each thread's in order.
Every operation of the trace must be there, but for those on objects without a name (libraries have
locks and blocks of their own), accesses, and function marks. Lines that begin with @ are about the
whole:

    @program FILE      if the name differs; @shared FILE is built as a shared object beside it
    @also FILE         is compiled along with it
    @flags -X -Y       for the compiler
    @args A B          of the program
    @options A=B       for the runtime
    @status exit N     how the program must end; "signal N" if killed
    @finished N        the trace must say that the process ended, with this wait(2) status
    @unfinished        the trace must say that it does not know
    @trace N           what follows is about the N-th trace, in the order of process ids; from 0
    @ignore OP         leave these operations out
    @blind-spot NAME N the trace must say that it missed so many of these
    @access KIND NAME SIZE   somewhere in the trace there must be this access
    @untouched NAME          no access of the trace begins there
"""
import errno
import glob
import json
import os
import subprocess
import sys
import tempfile

# Kinds of events that are no operations.
ACCESSES = {"read", "write", "update", "atomic-load", "atomic-store", "atomic-rmw", "fence", "call", "object", "access"}
MARKS = {"enter", "exit"}


def fail(message):
    sys.exit("run.py: " + message)


class Expectation:
    def __init__(self, path):
        self.program = os.path.splitext(path)[0]
        self.shared = []
        self.options = []
        self.flags = []
        self.args = []
        self.status = ("exit", 0)
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
            elif head == "@flags":
                self.flags += rest
            elif head == "@args":
                self.args += rest
            elif head == "@also":
                self.flags += [os.path.join(folder, name) for name in rest]
            elif head == "@options":
                self.options += rest
            elif head == "@status":
                self.status = (rest[0], int(rest[1]))
            elif head == "@ignore":
                self.ignore.update(rest)
            elif head == "@trace":
                trace = self.per_trace.setdefault(int(rest[0]), {"groups": []})
            elif head == "@finished":
                trace["status"] = int(rest[0])
            elif head == "@unfinished":
                trace["status"] = None
            elif head == "@blind-spot":
                trace.setdefault("blind_spots", {})[rest[0]] = int(rest[1])
            elif head == "@access":
                trace.setdefault("accesses", []).append((number, rest))
            elif head == "@untouched":
                trace.setdefault("untouched", []).append((number, rest[0]))
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
    text = subprocess.run([atomsan, "dump", "--json", path], check=True, stdout=subprocess.PIPE).stdout
    return json.loads(text)


def operations(document, ignore, addresses):
    found = []
    open_functions = {}
    for event in document["events"]:
        stack = open_functions.setdefault(event["thread"], [])
        if event["event"] == "enter":
            stack.append(event.get("function"))
        elif event["event"] == "exit":
            if event["frames"] > len(stack):
                fail(f"{event['frames']} functions left, {len(stack)} were open: {stack}")
            del stack[len(stack) - event["frames"]:]
        event["in"] = stack[-1] if stack else None
        if event["event"] in ACCESSES and "address" in event or event["event"] in MARKS | ignore:
            continue
        if "object" in event and event["event"] != "start" and int(event["object"], 16) not in addresses:
            continue
        found.append(event)
    return found


def describe(event, names):
    def name(value):
        if isinstance(value, str) and value.startswith("0x"):
            return names.get(int(value, 16), value)
        return value

    head = f"{event['thread']} {event['event']} {name(event.get('object', '-'))}"
    rest = [f"{key}={name(event[key])}" for key in ("child", "parent", "mutex", "value", "other", "in") if key in event]
    return " ".join([head, *event.get("flags", []), *rest])


def same(value, word, objects, pid):
    """Is a field of the dump what the word says?"""
    if word == "*":
        return True
    if word in objects:
        return int(str(value), 0) == objects[word]
    if word == "pid":
        return value == pid
    if word == "none":
        return value in (None, "T?4294967295")
    if hasattr(errno, word):
        return value == getattr(errno, word)
    return str(value) == word


def matches(event, words, objects, pid):
    thread, op, rest = words[0], words[1], words[2:]
    if event["thread"] != thread or event["event"] != op:
        return False
    wanted = rest[0] if rest else "-"
    if wanted == "-":
        if "object" in event:
            return False
    elif wanted != "*" and int(event.get("object", "0"), 16) != objects.get(wanted):
        return False
    fields = [word.split("=", 1) for word in rest[1:] if "=" in word]
    flags = {word for word in rest[1:] if "=" not in word}
    return (set(event.get("flags", [])) == flags
            and all(same(event.get(key), word, objects, pid) for key, word in fields))


def check_accesses(wanted, document, objects):
    for number, (kind, name, size) in wanted.get("accesses", []):
        if not any(event["event"] == kind and int(event.get("address", "0"), 16) == objects[name]
                   and event["size"] == int(size) for event in document["events"]):
            there = [f"{event['event']} +{event['size']}" for event in document["events"]
                     if int(event.get("address", "0"), 16) == objects[name]]
            fail(f"line {number}: no {kind} of {size} bytes at {name}, only {there}")
    for number, name in wanted.get("untouched", []):
        if any(event["event"] in ACCESSES and int(event.get("address", "0"), 16) == objects[name]
               for event in document["events"]):
            fail(f"line {number}: there is an access to {name}")


def compare(wanted, index, document, events, objects, pid):
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
            queue = queues.get(event["thread"])
            if not queue or not matches(event, queue[0][1], objects, pid):
                expected = " | ".join(f"line {q[0][0]}: {' '.join(q[0][1])}" for q in queues.values() if q)
                fail(f"trace {index}, event {position}: {describe(event, names)}; expected {expected}\n{shown}")
            queue.pop(0)
            position += 1
    if position < len(events):
        fail(f"trace {index}: not expected: {describe(events[position], names)}\n{shown}")
    missed = {spot["name"]: spot["count"] for spot in document["blind_spots"]}
    for name in {"dropped", "unknown-thread", "unsupported", *wanted.get("blind_spots", {})}:
        if missed.get(name, 0) != wanted.get("blind_spots", {}).get(name, 0):
            fail(f"trace {index}: not as expected: missed {name} {missed.get(name, 0)}")
    if "status" in wanted:
        status = document["exit_status"] if document["finished"] else None
        if status != wanted["status"]:
            fail(f"trace {index}: the process's status is {status}, must be {wanted['status']}")


def main():
    atomsan, path = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    live = sys.argv[3:] == ["live"]
    expectation = Expectation(path)
    with tempfile.TemporaryDirectory() as folder:
        for source in expectation.shared:
            stem = os.path.splitext(os.path.basename(source))[0]
            build(atomsan, source, os.path.join(folder, stem + ".so"), "-shared", "-fPIC")
        program = os.path.join(folder, "program")
        build(atomsan, find_source(expectation.program), program, "-rdynamic", *expectation.flags)
        trace = os.path.join(folder, "t.atr")
        env = dict(os.environ, ATOMSAN_OPTIONS=":".join(expectation.options))
        recorder = ["run", "--no-store", f"--keep-trace={trace}"] if live else ["record", "-o", trace]
        if live:
            env["ATOMSAN_OPTIONS"] += ":exitcode=0"
        done = subprocess.run([atomsan, *recorder, "--", program, *expectation.args], cwd=folder, env=env,
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
        if len(traces) != len(expectation.per_trace):
            fail(f"{len(traces)} traces, must be {len(expectation.per_trace)}: {traces}")
        pid = int(traces[1].split(".")[-1]) if len(traces) > 1 else None
        for index, wanted in expectation.per_trace.items():
            document = load(atomsan, traces[index])
            events = operations(document, expectation.ignore, set(objects.values()))
            compare(wanted, index, document, events, objects, pid)
            check_accesses(wanted, document, objects)


main()
