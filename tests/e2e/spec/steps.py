#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""steps.py ATOMSAN: a spec file reaches every step of `atomsan test`, a bad one is no clean run, and options may stand behind
the files that a verb looks at."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

atomsan = str(pathlib.Path(sys.argv[1]).resolve())
for name in ("ATOMSAN_DB", "ATOMSAN_OPTIONS", "ATOMSAN_SPEC"):
    os.environ.pop(name, None)

SOURCE = r"""
#include <pthread.h>

struct account {
	pthread_mutex_t lock;
	long balance;
};
static struct account account = {PTHREAD_MUTEX_INITIALIZER, 0};

static long get(struct account *a)
{
	pthread_mutex_lock(&a->lock);
	long now = a->balance;
	pthread_mutex_unlock(&a->lock);
	return now;
}

static void set(struct account *a, long to)
{
	pthread_mutex_lock(&a->lock);
	a->balance = to;
	pthread_mutex_unlock(&a->lock);
}

void deposit(struct account *a)
{
	set(a, get(a) + 1);
}

static void *teller(void *a)
{
	deposit(a);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, teller, &account);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
"""


def run(*words):
    return subprocess.run([atomsan, *words], capture_output=True, text=True, timeout=250)


def expect(done, status, *parts):
    text = done.stdout + done.stderr
    assert done.returncode == status, (done.args, done.returncode, text)
    for part in parts:
        assert part in text, (done.args, part, text)
    return done


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    pathlib.Path("bank.c").write_text(SOURCE)
    pathlib.Path("ignored.spec").write_text("ignore type account\n")
    pathlib.Path("bad.spec").write_text("ignored type account\n")
    pathlib.Path("other.spec").write_text("ignore type account\nunit function nosuch\n")
    expect(run("cc", "-g", "-O2", "-pthread", "bank.c", "-o", "bank"), 0)

    steps = ("test", "--budget=20", "--no-store")
    expect(run(*steps, "--", "./bank"), 66, "deposit is not atomic over account")
    quiet = expect(run(*steps, "--spec=ignored.spec", "--", "./bank"), 0, "no findings")
    assert "was not done" not in quiet.stderr, quiet.stderr
    expect(run(*steps, "--spec=bad.spec", "--", "./bank"), 1, "bad.spec:1: there is no statement 'ignored'")
    expect(run(*steps, "--spec=other.spec", "--", "./bank"), 1, "other.spec:2: the program has no function 'nosuch'", "was not checked")

    # The compiler heeds what it ignores; it refuses what cannot be read all the same.
    pathlib.Path("long.spec").write_text("#" + "x" * 1022 + "ignore nothing\nignore\n")
    expect(run("cc", "--spec=bad.spec", "-c", "bank.c"), 1, "bad.spec:1: there is no statement 'ignored'")
    expect(run("cc", "--spec=long.spec", "-c", "bank.c"), 1, "long.spec:2: expected 'ignore ")
    expect(run("cc", "--spec=.", "-c", "bank.c"), 1, "cannot read the spec file", "Is a directory")

    expect(run("record", "-o", "t.atr", "--", "./bank"), 0)
    # A pipe has its text but once, which is not enough for those who read it again.
    os.mkfifo("pipe")
    for words in (*steps, "--spec=pipe", "--", "./bank"), ("run", "--no-store", "--spec=pipe", "--", "./bank"):
        expect(run(*words), 1, "the spec file pipe is no file but a pipe or a device")
    for verb, last in ("check", ("t.atr",)), ("lint", ("bank",)), ("run", ("--", "./bank")), ("test", ("--", "./bank")):
        expect(run(verb, "--no-store", "--spec=.", *last), 1, "cannot read the spec file .: Is a directory")
        expect(run(verb, "--no-store", "--spec=gone", *last), 1, "cannot read the spec file gone: No such file")
    for verb in ("check", "predict"):
        document = json.loads(expect(run(verb, "--no-store", "t.atr", "--spec", "ignored.spec", "--json"), 0).stdout)
        assert document["findings"] == [], document
    expect(run("predict", "t.atr", "--no-store"), 66, "deposit")
    expect(run("dump", "t.atr", "--stats"), 0, "events ")
    expect(run("convert", "t.atr", "-o", "t.std"), 0)
    expect(run("bitcode", "bank", "-l"), 0, "bank.c")
    pathlib.Path("count.c").write_text(SOURCE.replace("a->balance", "balance").replace("static long get", "static long balance;\nstatic long get"))
    expect(run("cc", "-g", "-O2", "-pthread", "count.c", "-o", "count"), 0)
    for program, statement in ("bank", "type account"), ("bank", "member account.balance"), ("count", "variable balance"):
        pathlib.Path("one.spec").write_text(f"ignore {statement}\n")
        expect(run("lint", program, "--no-store"), 66, "deposit")
        expect(run("lint", program, "--no-store", "--spec=one.spec"), 0)
    expect(run("lint", "bank", "--no-store", "--confirm", "--budget=2", "--", "./bank", "--json"), 66, "SUMMARY: atomsan:")
