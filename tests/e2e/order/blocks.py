# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""blocks.py ATOMSAN blocks.c: in the trace's order a block is free before its memory is allocated again.

Most allocations and frees do without a stamp, and memory that comes back is told of anew all the same."""
import bisect
import json
import os
import re
import subprocess
import sys
import tempfile


class Heap:
    def __init__(self):
        self.starts, self.sizes, self.owner = [], {}, {}
        self.passed_on = 0
        self.last = {}  # start -> who freed it last

    def alloc(self, start, size, thread):
        at = bisect.bisect(self.starts, start)
        if at and self.starts[at - 1] + self.sizes[self.starts[at - 1]] > start:
            sys.exit(f"{thread} got {size} bytes at {start:#x}, where a block is at {self.starts[at - 1]:#x}")
        if at < len(self.starts) and self.starts[at] < start + size:
            sys.exit(f"{thread} got {size} bytes at {start:#x}, and there is a block at {self.starts[at]:#x}")
        self.starts.insert(at, start)
        self.sizes[start] = max(size, 1)
        self.passed_on += self.last.get(start, thread) != thread

    def free(self, start, thread):
        if start not in self.sizes:
            return  # of before the recording
        del self.starts[bisect.bisect_left(self.starts, start)]
        del self.sizes[start]
        self.last[start] = thread


def main():
    atomsan, source = os.path.abspath(sys.argv[1]), sys.argv[2]
    lines = {word: number for number, line in enumerate(open(source), 1)
             for word in re.findall(r"/\* (once|again) \*/", line)}
    with tempfile.TemporaryDirectory() as folder:
        program, trace = os.path.join(folder, "blocks"), os.path.join(folder, "blocks.atr")
        subprocess.run([atomsan, "cc", "-g", "-O1", "-pthread", source, "-o", program], check=True)
        # Threads are not to keep blocks for themselves.
        for options, arguments in (([], []), (["--all"], []), ([], ["small"])):
            done = subprocess.run([atomsan, "record", *options, "-o", trace, "--", program, *arguments], check=True, capture_output=True, text=True,
                                  env={**os.environ, "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"})
            dump = subprocess.run([atomsan, "dump", "--json", trace], check=True, capture_output=True, text=True)
            os.unlink(trace)
            if done.stdout != "2\n":
                sys.exit("the allocator gave another block the second time")
            look(json.loads(dump.stdout)["events"], lines, not options)


def look(events, lines, filtered):
    heap, stamped, count = Heap(), 0, 0
    written = {line: 0 for line in lines.values()}
    others = 0
    for e in events:
        if e["event"] == "alloc":
            heap.alloc(int(e["object"], 16), e["value"], e["thread"])
        elif e["event"] == "free":
            heap.free(int(e["object"], 16), e["thread"])
        elif e.get("function") == "twice" and e["event"] in ("read", "write"):
            written[e["line"]] = written.get(e["line"], 0) + 1
            others += e["event"] == "write"
        if e["event"] in ("alloc", "free"):
            count += 1
            stamped += e.get("stamped", False)
    for word, line in lines.items():
        if not written[line]:
            sys.exit(f"line {line}, {word}, is not in the trace")
    # Two objects, and the other variable: it stays known, though memory came and went.
    if filtered and others != 3:
        sys.exit(f"{others} writes are told of where 3 were news")
    if heap.passed_on < 100:
        sys.exit(f"only {heap.passed_on} blocks went from one thread to another")
    print(f"{count} allocations and frees, {stamped} with a stamp, {heap.passed_on} times to another thread")


main()
