#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run.py ATOMSAN SOURCE: what a program prints of itself must stand in the tables of its trace.

    member TYPE PATH OFFSET SIZE              sites of it have this offset in a type of this size
    storage TYPE PATH FROM TO SIZE            the same, at an offset in FROM .. TO - 1
    variable NAME ADDRESS SIZE TYPE ELEMENT FLAGS
    absent NAME                               no variable is called so
    dropped NAME                              nor this, if the linker drops what nobody uses
    accessor NAME, other NAME                 a function that is, or is not, a plain getter or setter
    locked NAME                               a lock that the dump names

Beyond that every access to a member that has a layout must lie in an object of that size: a
variable, a stack, or a block of the heap.
"""
import json
import os
import subprocess
import sys
import tempfile

WAYS = (["-O0"], ["-O1", "-fPIE", "-pie"], ["-O2", "-no-pie", "-fno-pie"], ["-O2", "-Wl,--gc-sections", "-fdata-sections"],
        ["-O1", "-fuse-ld=lld", "-Wl,--gc-sections", "-fdata-sections"], ["-O2", "-flto", "-fuse-ld=lld"], ["-O2", "--early"])


def fail(message):
    sys.exit("run.py: " + message)


def record(atomsan, source, way, folder):
    program, trace = os.path.join(folder, "program"), os.path.join(folder, "program.atr")
    verb = "c++" if source.endswith(".cc") else "cc"
    # From elsewhere, by its whole path: clang has several names for a file then.
    subprocess.run([os.path.abspath(atomsan), verb, *way, os.path.abspath(source), "-o", program], check=True,
                   cwd=os.path.dirname(os.path.dirname(os.path.abspath(source))))
    output = subprocess.run([atomsan, "record", "--all", "-o", trace, "--", program], check=True, stdout=subprocess.PIPE)

    def dump(*options):
        return json.loads(subprocess.run([atomsan, "dump", "--json", *options, trace], check=True, stdout=subprocess.PIPE).stdout)

    return [line.split() for line in output.stdout.decode().splitlines()], dump


def check_members(lines, sites, optimised):
    problems, seen = [], 0
    for kind, *words in lines:
        if kind == "member":
            of, path, low, size = words
            high = int(low) + 1
        elif kind == "storage":
            of, path, low, high, size = words
        else:
            continue
        found = [s for s in sites if s.get("type") == of and s.get("member") == path]
        seen += bool(found)
        if not found and not optimised:
            problems.append(f"no site of {of}.{path}")
        for s in found:
            if s.get("type_size") != int(size) or not int(low) <= s["offset"] < int(high):
                problems.append(f"{of}.{path} at {low} of {size}: line {s['line']} has {s.get('offset')} of {s.get('type_size')}")
    if not seen:
        problems.append("no member has a site")
    return problems


def check_variables(lines, variables, sites, drops):
    problems = []
    files = {s.get("file") for s in sites}
    for kind, *words in lines:
        if kind == "variable":
            name, address, size, of, element, flags = words
            wanted = (int(address, 16), int(size), "" if of == "-" else of, int(element), [] if flags == "-" else flags.split(","))
            found = [(int(v["address"], 16), v["size"], v.get("type", ""), v["element_size"], sorted(v["flags"]))
                     for v in variables if v["variable"] == name]
            if wanted not in found:
                problems.append(f"variable {name}: expected {wanted}, found {found}")
            if not all(v["file"].endswith(("layout.c", "layout.cc")) and v["file"] in files and v["line"]
                       for v in variables if v["variable"] == name):
                problems.append(f"variable {name} has no place, or another name for its file than functions have")
        elif (kind == "absent" or kind == "dropped" and drops) and any(v["variable"] == words[0] for v in variables):
            problems.append(f"{words[0]} is in the table")
    return problems


def check_events(lines, events, sites, variables, optimised):
    problems = []
    objects = [(int(v["address"], 16), v["size"]) for v in variables]
    objects += [(int(e["object"], 16), e["value"]) for e in events if e["event"] in ("alloc", "start")]
    by_number = {s["site"]: s for s in sites}
    for e in events:
        s = by_number.get(e.get("site"))
        if e["event"] not in ("read", "write", "update") or not s or "member" not in s or "type_size" not in s:
            continue
        if "array" in s["flags"]:
            continue  # the element's number is not in the site
        begin, size = int(e["address"], 16) - s["offset"], s["type_size"]
        if not any(at <= begin and begin + size <= at + length for at, length in objects):
            problems.append(f"{e['variable']} at {e['address']} lies in no object of {size} bytes")
    flags = {e["function"]: e["flags"] for e in events if e["event"] == "enter" and "function" in e}
    locked = {e.get("name") for e in events if e["event"] == "lock"}
    for kind, name, *_ in lines:
        if kind in ("accessor", "other") and name in flags and ("accessor" in flags[name]) != (kind == "accessor"):
            problems.append(f"{name} has flags {flags[name]}")
        # Inlined, a read may be another one.
        if kind in ("accessor", "other") and name not in flags and not optimised:
            problems.append(f"{name} was never entered")
        if kind == "locked" and name not in locked:
            problems.append(f"no lock is called {name}: {locked}")
    return problems


def main():
    atomsan, source = sys.argv[1:]
    for way in WAYS:
        with tempfile.TemporaryDirectory() as folder:
            lines, dump = record(atomsan, source, way, folder)
            sites, variables = dump("--sites")["sites"], dump("--variables")["variables"]
            problems = check_members(lines, sites, way[0] != "-O0") + check_variables(lines, variables, sites, "-fuse-ld=lld" in way and "-fdata-sections" in way)
            problems += check_events(lines, dump()["events"], sites, variables, way[0] != "-O0")
        if problems:
            fail(f"{source} with {' '.join(way)}:\n" + "\n".join(problems))


if __name__ == "__main__":
    main()
