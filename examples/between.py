#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""between.py TRACE.json TRACE.txt: where one deposit of bank.c was undone or undid another.

Both files are dumps of one trace, so the n-th event of the document is the n-th line of the text.
Shown is the shortest stretch in which a thread reads the balance in one critical section, another
thread writes it, and the first thread writes it in its next critical section.
"""
import json
import sys


def is_access(event, kind):
    return event["event"] == kind and event.get("variable") == "account.balance"


def deposits(events):
    """For each deposit: thread, and the indexes of its lock, read, unlock, lock, write, unlock."""
    steps = [("lock", "balance"), ("read", "balance"), ("unlock", "balance"),
             ("lock", "set_balance"), ("write", "set_balance"), ("unlock", "set_balance")]
    open_ones = {}
    for index, event in enumerate(events):
        done = open_ones.setdefault(event["thread"], [])
        if (event["event"], event.get("function")) == steps[len(done)]:
            done.append(index)
        if len(done) == len(steps):
            yield event["thread"], done
            open_ones[event["thread"]] = []


def main():
    with open(sys.argv[1]) as file:
        events = json.load(file)["events"]
    with open(sys.argv[2]) as file:
        lines = [line.rstrip("\n") for line in file if not line.startswith("#")]
    if len(lines) != len(events):
        sys.exit(f"between.py: {len(events)} events and {len(lines)} lines are not of one trace")
    # Few lines show more than a screenful, and threads that begin and end distract.
    found = sorted(deposits(events), key=lambda deposit: (
        any(event["event"] in ("start", "end", "create", "join") for event in events[deposit[1][0]:deposit[1][5]]),
        deposit[1][5] - deposit[1][0]))
    undone = [(thread, marks) for thread, marks in found
              if any(is_access(event, "write") and event["thread"] != thread for event in events[marks[2]:marks[3]])]
    if not found:
        sys.exit("between.py: the trace has no deposit")
    thread, marks = (undone or found)[0]
    print("...")
    for index in range(marks[0], marks[5] + 1):
        mine = events[index]["thread"] == thread
        margin = "" if not mine else "reads" if marks[0] <= index <= marks[2] else "writes" if index >= marks[3] else ""
        print(f"{margin:6} |{lines[index]}")
    print("...")
    if undone:
        others = sorted({event["thread"] for event in events[marks[2]:marks[3]] if is_access(event, "write")} - {thread})
        print(f"{thread} reads the balance; {' and '.join(others)} writes it; {thread} writes what it had read, plus 1.\n"
              f"What {' and '.join(others)} wrote is lost. This happened to {len(undone)} of {len(found)} deposits.")
    else:
        print(f"In this run nobody came between the two critical sections of any of {len(found)} deposits;\n"
              f"above is one of them. Run the demo again: the next schedule is another one.")


main()
