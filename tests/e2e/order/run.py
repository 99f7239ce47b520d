# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run.py ATOMSAN order.c MODE LEVEL: does the trace's order explain what the program computed?"""
import json
import os
import subprocess
import sys
import tempfile

FACTOR = 6364136223846793005
MASK = (1 << 64) - 1


def number(thread):
    return int(thread[1:])  # T1 was created first, and so on


class Locks:
    """Who holds what, as the trace has it: a lock is taken only while nobody is in its way."""

    def __init__(self):
        self.writer = {}
        self.readers = {}

    def take(self, lock, thread, reading=False):
        writer, readers = self.writer.get(lock), self.readers.setdefault(lock, [])
        if writer or (readers and not reading):
            sys.exit(f"{thread} has lock {lock} while {writer or readers} has it")
        if reading:
            readers.append(thread)
        else:
            self.writer[lock] = thread

    def drop(self, lock, thread):
        if self.writer.get(lock) == thread:
            self.writer[lock] = None
        elif thread in self.readers.get(lock, []):
            self.readers[lock].remove(thread)
        else:
            sys.exit(f"{thread} lets lock {lock} go and does not have it")

    def see(self, e):
        kind, thread = e["event"], e["thread"]
        if kind in ("lock", "rdlock"):
            self.take(e["object"], thread, kind == "rdlock")
        elif kind == "unlock":
            self.drop(e["object"], thread)
        elif kind == "wait":
            self.drop(e["mutex"], thread)
        elif kind == "wake":
            self.take(e["mutex"], thread)


def replay(events, plain, shared, mode):
    """Cell values after all updates, in the order of the trace; and how many there were."""
    value = {a: 0 for a in list(plain) + list(shared)}
    reads = {}  # thread -> [(address, value then)] of the step under way
    written = {}  # thread -> the cell that the step under way writes
    steps = 0
    locks = Locks()

    def step(thread, address, other):
        nonlocal steps
        value[address] = (value[address] * FACTOR + other + number(thread)) & MASK
        steps += 1

    for e in events:
        thread, kind = e["thread"], e["event"]
        address = e.get("address") or e.get("object")
        locks.see(e)
        if thread == "T0" or address is None:
            continue
        if kind == "read" and address in plain:
            reads.setdefault(thread, []).append((address, value[address]))
        elif kind in ("write", "update") and address in plain:
            if mode in ("mutex", "crowd", "try"):
                written[thread] = address
            else:
                first = reads.pop(thread, [(address, 0)])[0]
                step(thread, address, first[1] if mode == "rwlock" else 0)
        elif kind == "unlock" and thread in written:
            # With both locks held nothing changed since, in whatever order the compiler read.
            mine = written.pop(thread)
            others = [a for a, _ in reads.pop(thread, []) if a != mine]
            step(thread, mine, value[others[0] if others else mine])
        elif kind == "atomic-load" and address in shared and mode in ("relaxed", "publish"):
            reads.setdefault(thread, []).append((address, value[address]))
        elif kind in ("atomic-rmw", "atomic-store") and address in shared:
            step(thread, address, reads.pop(thread)[0][1] if mode in ("relaxed", "publish") else 0)
    return value, steps


def main():
    atomsan, source, mode, level = sys.argv[1:5]
    atomsan = os.path.abspath(atomsan)
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "order")
        trace = os.path.join(folder, "order.atr")
        subprocess.run([atomsan, "cc", level, source, "-o", program], check=True)
        output = subprocess.run([atomsan, "record", "-o", trace, "--", program, mode], check=True,
                                capture_output=True, text=True).stdout
        dump = subprocess.run([atomsan, "dump", "--json", trace], check=True, capture_output=True, text=True).stdout
    cells = [line.split() for line in output.splitlines()]
    document = json.loads(dump)
    if document["blind_spots"] and any(b["name"] != "spin" for b in document["blind_spots"]):
        sys.exit(f"not everything was seen: {document['blind_spots']}")
    value, steps = replay(document["events"], {c[0] for c in cells}, {c[1] for c in cells}, mode)
    if steps != 6 * 3000:
        sys.exit(f"{steps} updates in the trace, the program made {6 * 3000}")
    for plain, shared, final in cells:
        if value[plain] + value[shared] != int(final, 16):
            sys.exit(f"{mode}: the cell at {plain} holds {final}, the trace's order gives "
                     f"{value[plain] + value[shared]:x}")
    print(f"{mode} {level}: {steps} updates, the same result")


if __name__ == "__main__":
    main()
