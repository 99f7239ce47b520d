#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check.py ATOMSAN SHAPES [FLAG...]: the trace of loops must have exactly the bytes that they accessed.

SHAPES is a file of loops for harness.c, or random:SEED for loops made by random_loops.py. The
flags are the compiler's; a flag that begins with filter= is an option for the recorder.
"""
import collections
import json
import os
import subprocess
import sys
import tempfile

import random_loops

HERE = os.path.dirname(os.path.abspath(__file__))


def intervals(pieces):
    """Sorted, merged [from, to) of any pieces."""
    merged = []
    for start, end in sorted(pieces):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def truth(output):
    touched, shapes = collections.defaultdict(list), {}
    for line in output.splitlines():
        words = line.split()
        if words[0] == "touch":
            _, thread, shape, kind, address, length = words
            start = int(address, 16)
            touched[shape, thread, kind].append((start, start + int(length)))
        else:
            shapes[words[1]] = words[2], int(words[3])
    return touched, shapes


def recorded(events, shapes):
    touched, counts = collections.defaultdict(list), collections.Counter()
    for event in events:
        shape = event.get("function")
        kinds = {"read": "r", "write": "w", "update": "rw"}.get(event["event"], "")
        if shape not in shapes or not kinds:
            continue
        start = int(event["address"], 16)
        counts[shape] += 1
        for kind in kinds:
            touched[shape, event["thread"], kind].append((start, start + event["size"]))
    return touched, counts


def compare(expected, found, counts, shapes, optimised):
    wrong = []
    for key in sorted(set(expected) | set(found)):
        want, have = intervals(expected[key]), intervals(found[key])
        if want != have:
            odd = [piece for piece in want if piece not in have][:3], [piece for piece in have if piece not in want][:3]
            wrong.append(f"{' '.join(key)}: accessed but not recorded as such {odd[0]}, recorded {odd[1]}")
    for shape, (promise, elements) in shapes.items():
        if promise == "few" and optimised and counts[shape] * 8 > elements:
            wrong.append(f"{shape}: {counts[shape]} events for {elements} elements, which is not few")
        if promise == "each" and counts[shape] < elements:
            wrong.append(f"{shape}: {counts[shape]} events for {elements} elements, which is not each")
    return wrong


def main():
    atomsan, shapes_file, *words = sys.argv[1:]
    flags = [word for word in words if not word.startswith("filter=")]
    options = [word for word in words if word.startswith("filter=")]
    if "-mavx2" in flags and " avx2 " not in open("/proc/cpuinfo").read():
        print("this machine has no AVX2")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        program, trace = os.path.join(folder, "program"), os.path.join(folder, "t.atr")
        if shapes_file.startswith("random:"):
            source = random_loops.make(int(shapes_file[7:]))
            shapes_file = os.path.join(folder, "shapes.inc")
            with open(shapes_file, "w") as file:
                file.write(source)
        subprocess.run([atomsan, "cc", "-g", "-pthread", "-fno-strict-aliasing", *flags, f'-DSHAPES="{os.path.abspath(shapes_file)}"',
                        os.path.join(HERE, "harness.c"), "-o", program], check=True)
        environment = dict(os.environ, ATOMSAN_OPTIONS=":".join(options)) if options else None
        output = subprocess.run([atomsan, "record", "-o", trace, "--", program], check=True, env=environment,
                                stdout=subprocess.PIPE).stdout.decode()
        document = json.loads(subprocess.run([atomsan, "dump", "--json", trace], check=True,
                                             stdout=subprocess.PIPE).stdout)
    expected, shapes = truth(output)
    found, counts = recorded(document["events"], shapes)
    wrong = compare(expected, found, counts, shapes, "-O0" not in flags and not options)
    if wrong or not expected or not shapes:
        sys.exit("check.py: " + "\n  ".join([f"{len(wrong)} of {len(shapes)} shapes differ", *wrong]))
    print(f"{len(shapes)} shapes, {sum(counts.values())} events")


main()
