#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run.py ATOMSAN SOURCE: in which functions and loops accesses lie, held against the source's comments.

    // # NAME [walk] [N]  the loop on this line is called so, and is a plain walk or is not; with N its
                          iterations are so many frames
    //@ FRAME... [*]      every access on this line lies in exactly these frames, functions and loops,
                          outermost first; ... for any at the bottom; with * each time in an iteration
                          that the line was not in before

Loops without a name must not be marked. Optimised, an access may have been moved a little: out of
the loop it was in or into the one beside it; but there are as many iterations as ever.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

LEVELS = ("-O0", "-O1", "-O2", "-O3")


def fail(message):
    sys.exit("run.py: " + message)


def comments(source):
    loops, lines, counts = {}, {}, {}
    for number, line in enumerate(open(source), 1):
        loop, at = re.search(r"// ?# (\w+)( walk)?( \d+)?$", line), re.search(r"//@ (.*)$", line)
        if loop:
            loops[number] = (loop[1], bool(loop[2]))
            if loop[3]:
                counts[loop[1]] = int(loop[3])
        if at:
            frames = at[1].split()
            lines[number] = (frames[:-1], True) if frames[-1] == "*" else (frames, False)
    return loops, lines, counts


def frame_name(event, loops, problems):
    if "loop" not in event["flags"]:
        return event["function"]
    # A label is no statement: the loop is where its first line is.
    name, walk = loops.get(event["line"]) or loops.get(event["line"] - 1) or (None, None)
    if not name:
        problems.append(f"a loop at line {event['line']} is marked")
    elif walk != ("walk" in event["flags"]):
        problems.append(f"loop {name} is {'' if not walk else 'not '}taken for a walk")
    return name


def moved(names, wanted, loops):
    """Do the two differ by loops alone?"""
    loops = {name for name, _ in loops.values()}
    return [name for name in names if name not in loops] == [name for name in wanted if name not in loops]


def check(events, loops, lines, optimised):
    problems, stacks, seen, count, iterations = [], {}, {}, 0, {}
    for event in events:
        stack = stacks.setdefault(event["thread"], [])
        if event["event"] == "enter":
            stack.append((frame_name(event, loops, problems), count))
            count += 1
            if "loop" in event["flags"]:
                iterations[stack[-1][0]] = iterations.get(stack[-1][0], 0) + 1
        elif event["event"] == "exit":
            del stack[len(stack) - event["frames"]:]
        elif event["event"] in ("read", "write", "update") and event.get("variable") == "seen" and event["line"] in lines:
            wanted, fresh = lines[event["line"]]
            names = [name for name, _ in stack]
            if wanted[0] == "...":
                names = names[len(names) - len(wanted) + 1:]
                wanted = wanted[1:]
            if names != wanted and not (optimised and moved(names, wanted, loops)):
                problems.append(f"line {event['line']}: expected {wanted}, found {names}")
            # A read and a write that are not one update are of one iteration.
            before = seen.setdefault((event["line"], event["event"]), set())
            if fresh and not optimised and (event["thread"], stack[-1]) in before:
                problems.append(f"line {event['line']}: again in the same iteration")
            before.add((event["thread"], stack[-1]))
    for thread, stack in stacks.items():
        if stack:
            problems.append(f"{thread} ends in {stack}")
    missing = [line for line in lines if not any(key[0] == line for key in seen)]
    return problems, missing, iterations


def main():
    atomsan, source = sys.argv[1:]
    loops, lines, counts = comments(source)
    for level in LEVELS:
        with tempfile.TemporaryDirectory() as folder:
            program, trace = os.path.join(folder, "program"), os.path.join(folder, "program.atr")
            subprocess.run([atomsan, "c++" if source.endswith(".cc") else "cc", level, source, "-o", program], check=True)
            subprocess.run([atomsan, "record", "--all", "-o", trace, "--", program], check=True, stdout=subprocess.DEVNULL)
            dump = subprocess.run([atomsan, "dump", "--json", trace], check=True, stdout=subprocess.PIPE)
        problems, missing, iterations = check(json.loads(dump.stdout)["events"], loops, lines, level != "-O0")
        # Optimised, an access may be folded into its neighbour.
        if missing and (level == "-O0" or len(missing) > len(lines) / 2):
            problems.append(f"nothing happened at lines {missing}")
        problems += [f"loop {name} has {iterations.get(name)} frames, not {count}"
                     for name, count in counts.items() if iterations.get(name) != count]
        if level == "-O0":
            expected = iterations
            problems += [f"loop {name} is not marked" for name, _ in loops.values() if name not in iterations]
        elif iterations != expected:
            problems.append(f"there were {expected} iterations, now {iterations}")
        if problems:
            fail(f"{source} with {level}:\n" + "\n".join(dict.fromkeys(problems)))


if __name__ == "__main__":
    main()
