#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run.py ATOMSAN INCLUDE SOURCES WORK: what `atomsan check` finds in runs whose interleaving is fixed.

Each case is a program, options of check, and the findings: for each one the functions that are its units
and the atomic set. Nothing else may be reported.
"""
import json
import os
import pathlib
import subprocess
import sys

ATOMSAN, INCLUDE, SOURCES, WORK = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])

# Locks and searches of spins.c are no waits.
SPUN = {(f"{name}_add {name}_set", name) for name in
        ("by_ttas", "by_outlined", "by_ticket", "by_peterson", "by_search", "by_attempts")}
# Who searches again in again.c and means it, and who carries something over.
MEANT = {("plain_get plain_put", "plain"), ("wrapped_add wrapped_put", "wrapped"), ("returned_get returned_put", "returned"),
         ("numbered_add numbered_put", "numbered"), ("within_add within_put", "within")}
CARRIED = {(f"{name}_add {name}_put", name) for name in
           ("old", "other_key", "kept", "counted", "unasked", "unlocked", "handed", "late", "early")}
# The same in again.cc.
MEANT_CXX = {("get put", name) for name in ("by_guards", "by_map", "by_own", "by_throw")}
CARRIED_CXX = {("get put", name) for name in ("old_end", "old_flag", "old_iterator", "counted", "by_memory")}
# Who goes by a hint in hints.c that is looked at again, and who does not.
HINTED = {(f"{name}_add {name}_put", name) for name in ("counted", "unlocked", "asked", "added", "told", "summed")}
UNSEEN = {(f"{name}_add {name}_put", name) for name in
          ("blind", "other", "given", "kept", "missing", "empty", "always", "half", "taken", "answered", "copied", "handled",
           "moved")}
# Who looks at a container of containers.cc twice, and has it changed in between.
CHANGED = {("change torn", name) for name in
           ("tree_inserts", "tree_erases", "map_sets", "multi_inserts", "tree_first", "tree_last", "tree_walks", "list_pushes",
            "list_pops", "list_turns", "list_splices", "string_appends", "string_assigns", "string_compares", "string_erases")}
# Who asks again in asked.c and means it, and who carries something over.
ASKED = {(f"{name}_fill {name}_get", name) for name in ("plain", "both", "limited")}
UNASKED = {(f"{name}_fill {name}_get", name) for name in ("half", "another", "blind", "kept", "noted")}
# The same in asked.cc.
ASKED_CXX = {("get put", name) for name in ("by_name", "by_value", "by_flag")}
UNASKED_CXX = {("get put", name) for name in ("by_old_name", "by_old_flag", "by_half")}
# Who counts itself in and out in flights.c, and who does something else.
COUNTED = {(f"{name}_handle", name) for name in ("plain", "late", "held")}
UNCOUNTED = {(f"{name}_handle", name) for name in ("checked", "reset", "kept", "twice")}
# program (its files), options, {(units, set)}
CASES = [
    ("figure1.c", [], set()),
    ("figure1.c", ["--sets=one"], {("count transfer", "everything")}),
    ("figure2.c", [], {("unit1 unit2 unit3", "globals of FILE")}),
    ("figure2.c", ["--sets=one"], {("unit1 unit2 unit3", "everything")}),
    ("figure2.c", ["--units=declared"], set()),
    ("figure2.c", ["--units=sections"], set()),
    ("guards.c", [], {("step unfinished", "globals of FILE")}),
    ("elements.c", [], {("look push", "globals of FILE"), ("sum swap", "globals of FILE")}),
    ("owned.c", [], {("rotate sum", "list"), ("push watch", "list")}),
    ("parts.c", [], {("put put_once", "tree"), ("put put_once", "leaf")}),
    ("callbacks.c", [], {("count down", "board"), ("charge earn", "purse")}),
    ("outlived.c", [], {("refill take", "table")}),
    ("calls.c", [], {("put torn", "stream"), ("looped put", "stream"), ("copied put", "stream")}),
    ("freed.c", [], {("look renew", "whole")}),
    ("reserved.c", [], {("put torn", "page")}),
    ("piper.c", [], set()),
    ("piper.c", ["--keep-units-at-waits"], {("fill take", "pipe")}),
    ("service.c service_bell.c", [], set()),
    ("service.c service_bell.c", ["--keep-units-at-waits"], {("serve service_end", "service"), ("serve service_new", "service")}),
    ("until.cc", [], set()),
    ("until.cc", ["--keep-units-at-waits"], {("end serve", "service"), ("operator() service", "service")}),
    ("first.cc", [], {("deposit fill", "account")}),
    ("spins.c", [], SPUN),
    ("spins.c", ["--keep-units-at-waits"], SPUN | {("round_of serve", "work"), ("tell told", "news")}),
    ("spins.cc", [], {("add set", "counter"), ("add_more set_more", "other_counter")}),
    ("spins.cc", ["--keep-units-at-waits"],
     {("add set", "counter"), ("add_more set_more", "other_counter"), ("round serve", "work")}),
    ("again.c", [], CARRIED),
    ("again.c", ["--keep-units-at-waits"], CARRIED | MEANT),
    ("again.cc", [], CARRIED_CXX),
    ("again.cc", ["--keep-units-at-waits"], CARRIED_CXX | MEANT_CXX),
    ("asked.c", [], UNASKED),
    ("asked.c", ["--keep-units-at-waits"], UNASKED | ASKED),
    ("asked.cc", [], UNASKED_CXX),
    ("asked.cc", ["--keep-units-at-waits"], UNASKED_CXX | ASKED_CXX),
    ("hints.c", [], UNSEEN),
    ("hints.c", ["--keep-units-at-waits"], UNSEEN | HINTED),
    ("hints.cc", [], {("add put", "(anonymous namespace)::blind"), ("add put", "(anonymous namespace)::missing")}),
    ("containers.cc", [], CHANGED),
    ("found.c", [], {("reserve take", "item"), ("link_reserve link_take", "store")}),
    ("guarded.c", [], {("change reserve", "item"), ("print relabel", "table")}),
    ("behind.cc", [], {("append cut", "text<plain>::data"), ("append cut", "text<unique>::data")}),
    ("given.c", [], {("begin look", "session")}),
    ("given.c", ["--every-cycle"], {("begin look", "session"), ("enter", "session")}),
    ("cleared.c", [], {("add put", "account")}),
    ("library.cc", [], set()),
    ("outlined.c", [], {("once twice", "globals of FILE")}),
    ("items.cc", [], {("set torn", name) for name in
                      ("unique", "mapped", "found", "hashed", "pointed", "numbered", "lined", "owned", "linked", "queued",
                       "maybe", "by_name")}),
    ("counts.c", [], {("restock_torn sell_torn", "globals of FILE")}),
    ("counts.c", ["--keep-loop-units"],
     {("restock_torn sell_torn", "globals of FILE"), ("restock sell", "globals of FILE")}),
    ("flights.c", [], UNCOUNTED),
    ("flights.c", ["--every-cycle"], UNCOUNTED | COUNTED),
    ("halves.c", [], {("add put", "globals of FILE")}),
    ("blamed.c", [], {("look move", "pair"), ("back turn", "twin")}),
    ("attempts.c", [], {("tried_set tried_torn", "tried"), ("waited_set waited_torn", "waited"),
                          ("both_set both_torn", "both")}),
    ("attempts.cc", [], {("set torn", "several"), ("set torn", "timed"), ("set torn", "tried")}),
    ("smart.cc", [], {("set torn", "inside")}),
    ("made.cc", [], {("set torn", "made")}),
    ("jobs.cc", [], {("reset work", "early"), ("reset work", "late")}),
    ("coroutines.cc", [], {("reset toil", "careless")}),
    ("coroutines.cc", ["--keep-loop-units"], {("reset toil", "careless"), ("take work", "queue")}),
    ("contexts.cc", [], {("put through", "counter")}),
    ("silent.c", [], set()),
    ("apart.c", [], {("lend look", "thing"), ("move sum", "thing"), ("another draw", "thing")}),
    ("apart.cc", [], {("put put_new", "board")}),
    ("inner.cc", [], {("send send_if_empty", "mailbox<int>"), ("change replace", "table")}),
    ("apart.c", ["--every-cycle"],
     {("borrow", "thing"), ("lend look", "thing"), ("clear mark", "thing"), ("move sum", "thing"), ("another draw", "thing"),
      ("next pass", "thing")}),
]
# program, spec file, findings
SPECS = [
    ("figure1.c", "merge both type account global", {("count transfer", "both")}),
    ("figure1.c", "unit function transfer", {("count transfer", "global")}),
    ("figure1.c", "unitfor function transfer global", {("count transfer", "global")}),
    ("figure2.c", "notunit function unit1", set()),
    ("figure2.c", "ignore variable z", set()),
    ("figure2.c", "ignore function get", set()),
    ("figure2.c", "set xy variable x y", set()),
    ("guards.c", "set w variable work\nset t variable total", set()),
    ("owned.c", "notunit function rotate\nnotunit function watch", set()),
    ("calls.c", "notunit function torn\nnotunit function looped\nnotunit function copied", set()),
    ("piper.c", "wait function take", set()),
    ("guarded.c", "guarded type label", {("change reserve", "item")}),
    ("guarded.c", "owned table.items", {("change sum", "table"), ("change reserve", "table"), ("print relabel", "table")}),
    ("contexts.cc", "ignore type counter", set()),
    ("silent.c", "notunit function eat", set()),
    # What is declared is meant.
    ("apart.c", "unit function borrow\nunit function mark",
     {("borrow", "thing"), ("lend look", "thing"), ("clear mark", "thing"), ("move sum", "thing"), ("another draw", "thing")}),
]
# What is wrong with a spec file, and what is said of it.
BAD = [
    ("unit transfer", "bad:1: "),
    ("set s acount.checking", "did you mean 'account"),
    ("unit function transfer\nnotunit function transfer", "bad:2: "),
    ("owned account", "bad:1: "),
    ("\n\nfrobnicate", "bad:3: "),
]
LEVELS = ["-O0", "-O2"]


def fail(text):
    sys.exit(f"check: {text}")


def record(source, level, kind=""):
    name = f"{source}{level}{kind}"
    program, trace = WORK / name, WORK / f"{name}.atr"
    compiler = "c++" if source.endswith(".cc") else "cc"
    files = [SOURCES / file for file in source.split()]
    files += ["-std=c++20"] if source in ("coroutines.cc", "library.cc") else []
    subprocess.run([ATOMSAN, compiler, "-Wall", "-Werror", "-g", level, f"-I{INCLUDE}", "-pthread", *files, "-o", program], check=True)
    subprocess.run([ATOMSAN, "record", "-o", trace, "--", program], check=True, timeout=60, stdout=subprocess.DEVNULL)
    return trace


def check(trace, options, expect_findings):
    done = subprocess.run([ATOMSAN, "check", "--json", "--no-store", *options, trace], stdout=subprocess.PIPE, timeout=60)
    if done.returncode != (66 if expect_findings else 0):
        fail(f"{trace.name} {options}: exit status {done.returncode}\n{done.stdout.decode()[:3000]}")
    return json.loads(done.stdout)


def brief(finding):
    units = sorted({unit["function"] for unit in finding["units"]})
    sets = {unit["set"] for unit in finding["units"]}
    if len(sets) != 1:
        fail(f"{finding['id']} is about several sets: {sets}")
    name = sets.pop()
    return " ".join(units), "globals of FILE" if name.startswith("globals of ") else name


def look_at_contexts(document):
    """The stack of the last access is the one that was there: nothing of the calls that were left by force."""
    access = document["findings"][0]["accesses"][-1]
    stack = [frame["function"] for frame in access["stack"]]
    if stack != ["put", "increment", "increment", "increment", "through", "first"]:
        fail(f"contexts.cc: the stack is {stack}")


def look_at_values(level):
    """What each access found is in the trace, and what was read and written in the report; without the option neither is."""
    plain = record("values.c", level)
    os.environ["ATOMSAN_OPTIONS"] = "values=1"
    trace = record("values.c", level, "values")
    del os.environ["ATOMSAN_OPTIONS"]
    text = subprocess.run([ATOMSAN, "dump", "--json", trace], check=True, stdout=subprocess.PIPE).stdout
    events = json.loads(text)["events"]
    found = {event["variable"]: event.get("found") for event in reversed(events) if event["event"] == "read"
             and event.get("variable", "").startswith("account.")}
    # A prefix has no room for the pattern.
    expected = {"account.balance": -100, "account.deposits": 70000, "account.owner": -300, "account.grade": -7,
                "account.pattern": None}
    if found != expected:
        fail(f"values.c {level}: the trace says {found}")
    finding, = check(trace, [], True)["findings"]
    told = [(access["op"], access.get("value")) for access in finding["accesses"] if access["op"] in "RWU"]
    if told != [("R", "-100"), ("W", "900"), ("W", "-95")]:
        fail(f"values.c {level}: the report says {told}")
    finding, = check(plain, [], True)["findings"]
    if any("value" in access for access in finding["accesses"]):
        fail("a trace without values gives some")


def main():
    WORK.mkdir(parents=True, exist_ok=True)
    ids = {}
    for level in LEVELS:
        traces = {}
        for source, options, expected in CASES:
            trace = traces.setdefault(source, None) or record(source, level)
            traces[source] = trace
            document = check(trace, options, expected)
            found = {brief(finding) for finding in document["findings"]}
            if found != expected or len(found) != len(document["findings"]):
                fail(f"{source} {level} {options}: found {found}, expected {expected}")
            # The id comes from places and names, so the optimiser does not matter.
            these = sorted(finding["id"] for finding in document["findings"])
            if ids.setdefault((source, *options), these) != these:
                fail(f"{source} {options}: ids differ between {LEVELS}: {ids[(source, *options)]} and {these}")
            # The other engine decides the same.
            check(trace, ["--engine=clocks", *options], expected)
            for finding in document["findings"] if source == "blamed.c" else []:
                if finding["units"][0]["function"] not in ("look", "turn") or not finding["title"].startswith(finding["units"][0]["function"]):
                    fail(f"{source} {level}: {finding['title']}")
            if source == "contexts.cc":
                look_at_contexts(document)
        for source, text, expected in SPECS:
            spec = WORK / "spec"
            spec.write_text(text + "\n")
            document = check(traces[source], [f"--spec={spec}"], expected)
            found = {brief(finding) for finding in document["findings"]}
            if found != expected:
                fail(f"{source} {level} with {text!r}: found {found}, expected {expected}")
        look_at_values(level)
    for text, sentence in BAD:
        spec = WORK / "bad"
        spec.write_text(text + "\n")
        done = subprocess.run([ATOMSAN, "check", f"--spec={spec}", traces["figure1.c"]], stderr=subprocess.PIPE, text=True)
        if done.returncode != 1 or sentence not in done.stderr or done.stderr.count("\n") != 1:
            fail(f"the spec file {text!r} gives {done.returncode}, {done.stderr!r}")
    for options, sentence in ((["--units=function"], "did you mean 'functions'"), (["--sets=two"], "--sets"), (["--engine=x"], "--engine")):
        done = subprocess.run([ATOMSAN, "check", *options, traces["figure1.c"]], stderr=subprocess.PIPE, text=True)
        if done.returncode != 1 or sentence not in done.stderr:
            fail(f"{options} gives {done.returncode}, {done.stderr!r}")


main()
