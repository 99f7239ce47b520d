#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""moved.py ATOMSAN: a finding keeps its id when the program is changed around it.

A small bank is built in several ways: as it is, from another folder, with lines put in, with its functions in
another order, with more members in front of the balance, optimised otherwise. Each time a run is recorded in
which both tellers read before either writes, and the finding must have the same id. A bank in which another
function is wrong has another one. In the end the store has two findings, and no more.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

atomsan = pathlib.Path(sys.argv[1]).resolve()

HEAD = """
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
"""
STRUCT = """
struct account {
	pthread_mutex_t lock;%s
	long balance;
};
struct account account = {.lock = PTHREAD_MUTEX_INITIALIZER};
atomic_int readers;
"""
# Who has read waits until all have, so that the same happens in every run.
DEPOSIT = """
void deposit(struct account *a, long amount)
{
	pthread_mutex_lock(&a->lock);
	long now = a->balance;
	pthread_mutex_unlock(&a->lock);
	readers++;
	while (readers < 2)
		sched_yield();
	pthread_mutex_lock(&a->lock);
	a->balance = now + amount;
	pthread_mutex_unlock(&a->lock);
}
"""
REPORT = """
long report(struct account *a)
{
	pthread_mutex_lock(&a->lock);
	long now = a->balance;
	pthread_mutex_unlock(&a->lock);
	return now;
}
"""
MAIN = """
void *teller(void *unused)
{
	deposit(&account, 1);
	return unused;
}
int main(void)
{
	pthread_t tellers[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&tellers[i], 0, teller, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(tellers[i], 0);
	return report(&account) == 2;
}
"""

PLAIN = HEAD + STRUCT % "" + DEPOSIT + REPORT + MAIN
BUILDS = {
    "as it is": (PLAIN, ["-O2"], "src"),
    "another folder": (PLAIN, ["-O2"], "elsewhere/deep/src"),
    "lines put in": (HEAD + "/*\n" + "line\n" * 70 + "*/\n" + STRUCT % "" + DEPOSIT + "\n\n\n" + REPORT + MAIN, ["-O2"], "src"),
    "another order": (HEAD + STRUCT % "" + REPORT + DEPOSIT + MAIN, ["-O2"], "src"),
    "more members": (HEAD + STRUCT % "\n\tchar name[40];\n\tlong number;" + DEPOSIT + REPORT + MAIN, ["-O2"], "src"),
    "less optimised": (PLAIN, ["-O1", "-fno-pie", "-no-pie"], "src"),
}
OTHER = PLAIN.replace("deposit", "withdraw")


def run(*command, ok=(0,), cwd=None):
    done = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True)
    if done.returncode not in ok:
        sys.exit(f"{command}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def find(folder, name, source, flags, under):
    place = folder / name.replace(" ", "-") / under
    place.mkdir(parents=True)
    (place / "bank.c").write_text(source)
    run(atomsan, "cc", "-g", *flags, "bank.c", "-o", "bank", "-pthread", cwd=place)
    run(atomsan, "record", "-o", "t.atr", "--", "./bank", cwd=place)
    document = json.loads(run(atomsan, "check", "--json", "--db", folder / "findings.db", "t.atr", ok=(66,), cwd=place))
    ids = {f["id"] for f in document["findings"]}
    if len(ids) != 1:
        sys.exit(f"{name}: one finding was to be expected, not {ids}")
    lines = {a["line"] for f in document["findings"] for a in f["accesses"]}
    return ids.pop(), lines


with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary)
    found = {name: find(folder, name, *build) for name, build in BUILDS.items()}
    ids = {id for id, lines in found.values()}
    if len(ids) != 1:
        sys.exit(f"the id changed: {found}")
    if found["as it is"][1] == found["lines put in"][1]:
        sys.exit("the lines did not move, so this proves nothing")
    other, _ = find(folder, "other", OTHER, ["-O2"], "src")
    if other in ids:
        sys.exit(f"another function has the same id {other}")
    listed = json.loads(run(atomsan, "list", "--json", "--db", folder / "findings.db"))
    runs = sorted(f["runs"] for f in listed["findings"])
    if runs != [1, len(BUILDS)]:
        sys.exit(f"the findings should have been found in 1 and {len(BUILDS)} runs, not {runs}")
