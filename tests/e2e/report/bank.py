#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bank.py ATOMSAN BANK: the whole life of one finding, on the bank of the examples, with the verbs that a user types: lint
suspects it, a run that loses nothing predicts it, a forced schedule reproduces it, healing keeps it from happening, the
sources are mended and verify finds it no more; and when the old sources come back, so does it, as new. All along it is
one finding with one id and one history, in every report."""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

atomsan, bank = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).read_text()
for name in ("ATOMSAN_DB", "ATOMSAN_OPTIONS"):
    os.environ.pop(name, None)
MENDED = bank.replace("""	long now = balance(a);

	/* What a longer program would do here: write a log, look up a rate. */
	sched_yield();
	set_balance(a, now + amount);
""", """	pthread_mutex_lock(&a->lock);
	long now = a->balance;

	sched_yield();
	a->balance = now + amount;
	pthread_mutex_unlock(&a->lock);
""").replace("static long balance(", "__attribute__((unused)) static long balance(").replace(
    "static void set_balance(", "__attribute__((unused)) static void set_balance(")
assert MENDED.count("unused))") == 2 and "a->balance = now + amount" in MENDED


def run(*words, ok=(0,)):
    done = subprocess.run([atomsan, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, check=False)
    if done.returncode not in ok:
        sys.exit(f"atomsan {' '.join(words)}: exit status {done.returncode}, not {ok}\n{done.stdout}{done.stderr}")
    return done.stdout


def check(condition, what):
    if not condition:
        sys.exit(what)


def build(source):
    pathlib.Path("bank.c").write_text(source)
    run("cc", "-g", "-O2", "-pthread", "bank.c", "-o", "bank")


def explore(ok):
    return run("explore", "--seed=1", "--budget=20", "--jobs=1", "--plain-seconds=0.01", "--", "./bank", "1", ok=ok)


def verify(status, argument):
    return run("verify", "--budget=20", first["id"][2:8], "--", "./bank", argument, ok=(status,))


history = []


def now(state, verb, review="new"):
    """The store's one finding, after a verb that should have made it this."""
    if verb:
        history.append(("state", state, verb))
    findings = json.loads(run("list", "--all", "--json"))["findings"]
    check(len(findings) == 1, f"after {verb}: {[f['title'] for f in findings]}")
    found = findings[0]
    check((found["state"], found["review"]) == (state, review), f"after {verb}: {found['state']}, {found['review']}")
    told = [(e["what"], e["to"], e["reason"]) for e in found["history"]]
    check(told == history, f"after {verb} its history is {told}, not {history}")
    return found


def steps(found):
    return [(a["op"], a["thread"]) for a in found["accesses"]]


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    build(bank)
    run("lint", "./bank", ok=(66,))
    first = now("suspected", "lint")
    # One thread after the other, and nothing is lost.
    run("record", "-o", "bank.atr", "--", "./bank", "1", ok=(0, 1))
    run("predict", "bank.atr", ok=(66,))
    found = now("predicted", "predict")
    check([op for op, _ in steps(found)] == list("LRALWALW"), f"predicted with the locks around it, not {steps(found)}")
    text = explore((66,))
    found = now("reproduced", "explore")
    check([op for op, _ in steps(found)] == list("LRALWALW"), f"reproduced: {steps(found)}")
    runs = json.loads(run("list", "--json"))["runs"]
    check(runs[0]["verb"] == "explore" and runs[0]["overhead"] > 0, f"what it cost is not there: {runs[0]}")
    # What the report tells to type shows it again, also after runs with other arguments.
    run("lint", "./bank", ok=(66,))
    again = re.search(r"to see it again: (atomsan replay .*)$", run("show", first["id"]), re.M)[1]
    check(" -- ./bank 1" in again, again)
    run(*shlex.split(again)[1:], ok=(66,))

    run("learn", "--from-findings", "--", "./bank", "1")
    run("heal", "--verify", "--", "./bank", "1")
    now("healed", "heal")
    trials = {t["strategy"]: t for t in json.loads(run("show", first["id"], "--json"))["trials"]}
    check(trials["kept, not healed"]["failures"] == trials["kept, not healed"]["runs"] > 0 and trials["kept, healed"]["runs"] > 0
          and trials["kept, healed"]["failures"] == 0, f"what healing did is not told: {trials}")

    check("has changed since" not in run("show", first["id"]), "nothing has changed yet")
    told = verify(66, "1")
    check("still there: reproduced by explore" in told, told)
    now("healed", None)
    build(MENDED)
    os.utime("bank.c", (os.stat("bank.c").st_mtime + 60,) * 2)
    check("bank.c has changed since" in run("show", first["id"]), "its lines are others now")
    # Nobody deposits anything: that nothing is found then is no wonder.
    told = verify(1, "0")
    check("not shown: the recorded run did not come to deposit" in told, told)
    now("healed", None)
    told = verify(0, "1")
    tried = re.search(r"fixed: (not found by lint, in a recorded run or in 20 runs under the scheduler, \d+ schedules predicted; build \w+)$",
                      told, re.M)
    check(tried, told)
    history.append(("review", "fixed", f"verified: {tried[1]}"))
    now("healed", None, "fixed")
    check(run("list").startswith("no findings"), "what is fixed is not listed")
    run("diff", "--update", "atomsan.base")

    # The page of the finding has all of it.
    run("report", "--all", "-o", "bank.html")
    page = re.search(r'id="data">(.*?)</script>', pathlib.Path("bank.html").read_text(), re.S)[1]
    shown = json.loads(page)["findings"]
    check(len(shown) == 1 and [e["to"] for e in shown[0]["history"]] == [to for _, to, _ in history] and shown[0]["replay"] == again,
          f"the page tells {shown[0]['history']}")
    check(shown[0]["units"][0]["end"] - shown[0]["units"][0]["line"] >= 6, "the unit is not shown to its end")
    lines = run("show", first["id"]).splitlines()
    check([l.split()[1].rstrip(":") for l in lines if re.match(r"    \d{4}-\d\d-\d\dT", l)] == [to for _, to, _ in history], "\n".join(lines))
    result = json.loads(run("report", "--all", "--format=sarif"))["runs"][0]["results"][0]
    check(result["partialFingerprints"]["atomsanFinding/v1"] == first["id"] and result["level"] == "note", f"{result['level']}")

    # The old sources are back, lines further down: a new life, which is not healed.
    build("/*\n" + "line\n" * 20 + "*/\n" + bank)
    explore((66,))
    history.extend([("state", "reproduced", "explore"), ("review", "new", "it was found again")])
    last = now("reproduced", None)
    check(last["id"] == first["id"] and last["units"][0]["line"] == first["units"][0]["line"] + 22, "the same one, further down")
    check(f"+ {first['id']}" in run("diff", "atomsan.base", ok=(66,)), "and it fails in CI")
    rows = [f["id"] for f in json.loads(run("list", "--all", "--json"))["findings"]]
    check(rows == [first["id"]], f"{rows}")
