#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""verbs.py ATOMSAN SAMPLES: the life of findings as a user leads it, from import to report."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

atomsan, samples = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:])
os.chdir(temporary := tempfile.mkdtemp())
os.environ.pop("ATOMSAN_DB", None)


def run(*words, status=0):
    done = subprocess.run([atomsan, *words], capture_output=True, text=True, errors="replace")
    if done.returncode != status:
        sys.exit(f"atomsan {' '.join(words)}: exit status {done.returncode}, not {status}\n{done.stdout}{done.stderr}")
    if status == 1 and (done.stderr.count("\n") != 1 or not done.stderr.startswith(f"atomsan {words[0]}: ")):
        sys.exit(f"atomsan {' '.join(words)}: not one sentence: {done.stderr}")
    return done


def check(condition, what):
    if not condition:
        sys.exit(what)


def sample(what):
    pathlib.Path(what + ".json").write_bytes(subprocess.run([samples, "json", what], check=True, capture_output=True).stdout)
    return what + ".json"


def summary(done):
    return re.search(r"^SUMMARY: atomsan: (.*)$", done.stdout, re.M)[1]


everything = sample("all")
BANK, CYCLE = "F-74dbc92d1114", "F-6baca67ff836"

# Without a store.
run("list", status=1)
check(not os.path.exists(".atomsan"), "looking for a store must not make one")
check(summary(run("import", "--no-store", everything, status=66)).startswith("6 findings"), "six samples")
check(not os.path.exists(".atomsan"), "--no-store must not make a store")

# Found, listed, shown.
check(summary(run("import", everything, status=66)) ==
      "6 findings (1 healed, 1 reproduced, 1 observed, 1 predicted, 2 suspected) in ./bank", "the sum")
lines = run("list").stdout.splitlines()
check(len(lines) == 8 and lines[1].startswith("F-9b46f0b13b28  healed"), "\n".join(lines))
check([l.split()[0] for l in run("list", "--state=suspected", "--sort", "confidence").stdout.splitlines()[1:-1]] ==
      ["F-a1837da3d701", "F-c9483ac8bb1e"], "by state and confidence")
check(run("list", "--match=*ledger*").stdout.splitlines()[1].startswith(CYCLE), "by pattern")
check(json.loads(run("list", "--json", "--kind=race").stdout)["findings"][0]["kind"] == "race", "as JSON")
run("list", "--state=seen", status=1)
run("list", "--sort=size", status=1)
run("list", "--limit=0", status=1)
run("list", "--stat=x", status=1)
run("list", "x", status=1)
check("deposit is not atomic over struct account" in run("show", "74d").stdout, "by the beginning of an id")
check(json.loads(run("show", BANK, "--json").stdout)["findings"][0]["id"] == BANK, "one as JSON")
run("show", "F-", status=1)
run("show", "beef", status=1)
run("show", status=1)

# Reviewed: what is explained is not reported again, what was fixed comes back as new.
run("mark", BANK, "intended", status=1)
run("mark", BANK, "nonsense", status=1)
run("mark", BANK, "intended", "--reason=as designed")
check("5 findings" in run("list").stdout and "6 findings" in run("list", "--all").stdout, "explained ones are left out")
check("1 suppressed" in summary(run("import", everything, status=66)), "explained ones are not reported")
run("mark", BANK, CYCLE, "fixed")
check(run("list", "--review=fixed").stdout.count("fixed") == 2, "two are fixed")
check("6 findings" in summary(run("import", everything, status=66)), "both came back")
check("it was found again" in run("show", BANK).stdout, "and their history says so")

# Suppressed, with a reason, for a time.
run("suppress", BANK, status=1)
run("suppress", BANK, "--reason=x", "--by=colour", status=1)
run("suppress", BANK, "--reason=x", "--until=2026-02-30", status=1)
run("suppress", BANK, "--reason=one teller", "--until=2999-12-31")
check(open("atomsan.supp").read() == f"id:{BANK} until=2999-12-31  # one teller\n", open("atomsan.supp").read())
check("1 suppressed" in summary(run("import", everything, status=66)), "by the project's own file")
run("suppress", CYCLE, "--reason=old", "--by=type", "--file=other.supp")
with open("other.supp", "a") as f:
    f.write("race:nowhere  # matches nothing\nany:*  until=2001-01-01 # long ago\n")
done = run("import", "--suppressions=other.supp", everything, status=66)
check("1 suppressed" in summary(done), "by another file")
check("other.supp:2: nothing matched" in done.stderr and "other.supp:3: the suppression of '*' expired on 2001-01-01" in done.stderr,
      done.stderr)
open("bad.supp", "w").write("race:x\n")
done = subprocess.run([atomsan, "import", "--suppressions=bad.supp", everything], capture_output=True, text=True)
check(done.returncode == 1 and "reason is missing" in done.stderr and "SUMMARY: atomsan: 6 findings" in done.stdout,
      "a bad file is an error, and what was found is printed")

# Only new findings fail.
run("diff", "base", status=1)
run("diff", "--update", "base")
check(run("diff", "base").stdout == "SUMMARY: atomsan: 0 new, 0 gone, 6 known\n", "nothing new")
kept = [l for l in open("base") if CYCLE not in l]
open("base", "w").writelines(kept + ["F-00000000 long gone\n"])
done = run("diff", "base", status=66)
check(f"+ {CYCLE}" in done.stdout and "- F-00000000" in done.stdout and "1 new, 1 gone, 5 known" in done.stdout, done.stdout)
check([f["id"] for f in json.loads(run("diff", "--json", "base", status=66).stdout)["new"]] == [CYCLE], "as JSON")
run("diff", everything, everything)
os.unlink("atomsan.supp")
check("5 known" in summary(run("import", "--baseline=base", everything, status=66)), "the others are known")
run("diff", "--update", "base")
check(summary(run("import", "--baseline=base", everything)) == "no findings (6 known) in ./bank", "nothing fails")

# Reports.
for ending in ("html", "sarif", "json", "txt", "perfetto.json"):
    run("report", "-o", f"r.{ending}")
    run("import", "--no-store", f"--report=s.{ending}", everything, status=66)
    check(os.path.getsize(f"r.{ending}") > 500 and os.path.getsize(f"s.{ending}") > 500, ending)
json.load(open("r.json"))
check(json.load(open("r.sarif"))["version"] == "2.1.0" and "traceEvents" in json.load(open("r.perfetto.json")), "formats by ending")
check("::error file=examples/bank.c" in run("import", "--github", everything, status=66).stdout, "annotations by option")
run("report", "--format=pdf", status=1)
check("did you mean 'html'" in run("report", "--format=htm", status=1).stderr, "a near miss")
run("report", "-o", "/no/such/folder/x.html", status=1)
run("report", "nothing.json", status=1)
for damaged in ("", "{", '{"version":1}', '{"version":1,"findings":[{}]}'):
    open("damaged.json", "w").write(damaged)
    run("report", "damaged.json", status=1)
    run("import", "damaged.json", status=1)
check("-" not in run("report", "--strip-path-prefix=examples", "--limit=1", "--match=*bank*").stdout.split("bank.c")[0][-9:],
      "paths from behind the prefix")

# A document that was exported comes back as it was.
first = json.loads(run("list", "--json", "--sort=id").stdout)
open("out.json", "w").write(json.dumps(first))
run("import", "--db=copy.db", "out.json", status=66)
second = json.loads(run("list", "--json", "--sort=id", "--db=copy.db").stdout)
for a, b in zip(first["findings"], second["findings"]):
    for field in ("id", "kind", "state", "title", "units", "accesses", "edges", "schedule", "variables"):
        check(a[field] == b[field], f"{a['id']}: {field} is not what it was")
check(len(first["findings"]) == len(second["findings"]) == 6, "all of them")

check("19 of 20 runs failed" in run("show", BANK).stdout, "the schedules that were tried for it")

# Names that try to be something else are shown as text, by every verb.
run("import", "--db=hostile.db", sample("hostile"), status=66)
id = json.loads(run("list", "--json", "--db=hostile.db").stdout)["findings"][0]["id"]
for words in (["list"], ["show", id], ["mark", id, "confirmed", "--reason=\x1b[31m\n"], ["show", id], ["show", "--json", id],
              ["suppress", id, "--reason=\x1b[31m\n::error::", "--by=function", "--file=h.supp"], ["suppress", id, "--reason=x", "--json"],
              ["report", "--format=text"], ["report", "--format=github"], ["report", "--format=sarif"], ["report", "--format=perfetto"]):
    out = subprocess.run([atomsan, *words, "--db=hostile.db"], capture_output=True, check=True).stdout
    out.decode("utf-8")
    check(not re.search(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\n::error::", out), f"{words}: control characters came through")
check(run("import", "--db=hostile.db", "--suppressions=h.supp", "hostile.json").returncode == 0, "and can be suppressed")

# Very many.
many = sample("6000")
run("import", "--db=many.db", many, status=66)
check(len(run("list", "--db=many.db").stdout.splitlines()) == 6002, "six thousand lines")
run("report", "--db=many.db", "-o", "many.sarif")
check(len(json.load(open("many.sarif"))["runs"][0]["results"]) == 5000, "what GitHub takes")
subprocess.run(["rm", "-rf", temporary], check=True)
