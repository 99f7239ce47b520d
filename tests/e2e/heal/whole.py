#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""whole.py ATOMSAN SOURCE: sections that begin and end with structs that are copied whole, in both forms.

The repository is made of the comments in the source. As it is the program must fail in most of its modes, or
it would show nothing; healed it fails in none, also not if the process is stopped for longer than anybody
waits for a section.
"""
import collections
import concurrent.futures
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

# A unit of compilation that has no section, and a member of what one is on.
OTHER = """struct triple { long first, second, third; };
extern struct triple spare;
void changes_member(long round);
void changes_member(long round)
{
	spare.second = round;
}
"""
LIMIT = 60  # far from what any of them takes
SELDOM = 2  # of some hundred runs, where the machine had other things to do
AT_ONCE = 8  # runs that are stopped most of the time
STOPS, GOES, STANDS = 4, 0.002, 0.15  # seconds; heal_timeout is a tenth of one


def fail(text):
    sys.exit(f"whole.py: {text}")


def repository(source, path):
    """Entry and end of each section; a section's unit is the function that its entry is in."""
    places, function = collections.defaultdict(dict), None
    for number, line in enumerate(source, 1):
        found = re.match(r"static .*?\b(\w+)\(.*\)$", line)
        function = found[1] if found else function
        for what, name, kind, variable in re.findall(r"\b(entry|end) (\w+) ([RW]) ([\w.\[\]]+)", line.partition("/*")[2]):
            places[name][what] = f"{kind} {variable} {function} whole.c:{number}:0"
    lines = ["atomicity 1", "program whole"]
    for count, (name, place) in enumerate(sorted(places.items())):
        lines += [f"section A-{count:08x} {place['entry'].split()[1]}", f"  entry {place['entry']}",
                  f"  end {place['end']} allow none"]
    path.write_text("\n".join(lines) + "\n")
    return {name: f"A-{count:08x}" for count, name in enumerate(sorted(places))}


def run(words, **more):
    try:
        return subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True, timeout=LIMIT, check=False, **more)
    except subprocess.TimeoutExpired:
        fail(f"{' '.join(map(str, words))}: did not end")


def stopped(words, **more):
    """As run(), of a process that stands still now and then."""
    with subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, **more) as process:
        for _ in range(STOPS):
            time.sleep(GOES)
            process.send_signal(signal.SIGSTOP)
            time.sleep(STANDS)
            process.send_signal(signal.SIGCONT)
        out, err = process.communicate(timeout=LIMIT)
        return subprocess.CompletedProcess(words, process.returncode, out, err)


given_up = []


def judge(what, section, done):
    # Who waits for long gives up, and says so; then it is not healed.
    if done.returncode and re.search(r"(too late|cut short|given up) [1-9]", done.stderr):
        given_up.append(f"{what}: {done.stderr}")
        if len(given_up) > SELDOM:
            fail(f"given up too often: {''.join(given_up)}")
    elif done.returncode:
        fail(f"{what}: status {done.returncode}: {done.stdout}{done.stderr}")
    if not re.search(rf"section {section} .*was entered [1-9]", done.stderr):
        fail(f"{what}: its section was not entered: {done.stderr}")


def main():
    atomsan, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        table = folder / "whole.atomicity"
        sections = repository(pathlib.Path(source).read_text().splitlines(), table)
        other = folder / "other.c"
        other.write_text(OTHER)
        for level in ("-O0", "-O2"):
            for words in ([], [f"--heal={table}"]):
                built = run([atomsan, "cc", *words, "-g", level, "-pthread", source, other, "-o",
                             folder / ("field" if words else "tested")])
                if built.returncode or built.stderr:
                    fail(f"{level}: it does not build, or has lost a section: {built.stderr}")
            failed = 0
            forms = (("tested", f"heal=1:repository={table}:verbosity=1"), ("field", "verbosity=1"))
            ways = [(mode, *form) for mode in sorted(set(sections) - {"both_too"}) for form in forms]
            for mode, form, options in ways:
                if form == "tested":
                    failed += run([folder / form, mode]).returncode != 0
                judge(f"{mode}, {level}, {form}", sections[mode],
                      run([folder / form, mode], env=dict(os.environ, ATOMSAN_OPTIONS=options)))
            with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
                for (mode, form, _), done in zip(ways, pool.map(
                        lambda way: stopped([folder / way[1], way[0]], env=dict(os.environ, ATOMSAN_OPTIONS=way[2])), ways)):
                    judge(f"{mode}, {level}, {form}, stopped", sections[mode], done)
            if failed < len(sections) // 2:
                fail(f"{level}: only {failed} modes fail without healing")
    print(f"{len(sections)} sections, two levels of optimisation, two forms, stopped and not: all kept whole")


main()
