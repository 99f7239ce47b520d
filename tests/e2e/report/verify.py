#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""verify.py ATOMSAN: what `atomsan verify` says of mends that are none: one that leaves the same block open to somebody else,
and one that trades a lost update for a deadlock; and of a finding that only prediction knows."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

atomsan = str(pathlib.Path(sys.argv[1]).resolve())
for name in ("ATOMSAN_DB", "ATOMSAN_OPTIONS"):
    os.environ.pop(name, None)

COUNTER = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct counter {
	pthread_mutex_t lock, log;
	long value, lines;
};
static struct counter counter = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, 0, 0};
static int tolerant;

static void add(struct counter *c)
{
	%s
}

static void look(struct counter *c)
{
	%s
}

static void *adder(void *p)
{
	add(p);
	return NULL;
}

static void *looker(void *p)
{
	look(p);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	tolerant = argc > 1 && atoi(argv[1]);
	pthread_create(&threads[0], NULL, adder, &counter);
	pthread_create(&threads[1], NULL, argc > 2 ? looker : adder, &counter);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return tolerant || counter.value == 2 ? 0 : 1;
}
"""
SPLIT = """long now;

	pthread_mutex_lock(&c->lock);
	now = c->value;
	pthread_mutex_unlock(&c->lock);
	pthread_mutex_lock(&c->lock);
	c->value = now + 1;
	pthread_mutex_unlock(&c->lock);"""
# Two locks, taken the other way round by the other.
WHOLE = """pthread_mutex_lock(&c->lock);
	pthread_mutex_lock(&c->log);
	c->value++;
	pthread_mutex_unlock(&c->log);
	pthread_mutex_unlock(&c->lock);"""
TWISTED = """pthread_mutex_lock(&c->log);
	pthread_mutex_lock(&c->lock);
	c->value++;
	pthread_mutex_unlock(&c->lock);
	pthread_mutex_unlock(&c->log);"""


def run(*words, status=0):
    done = subprocess.run([atomsan, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, check=False)
    if done.returncode != status:
        sys.exit(f"atomsan {' '.join(words)}: exit status {done.returncode}, not {status}\n{done.stdout}{done.stderr}")
    return done.stdout


def build(add, look):
    pathlib.Path("counter.c").write_text(COUNTER % (add, look))
    run("cc", "-g", "-O1", "-pthread", "counter.c", "-o", "counter")


def check(condition, what):
    if not condition:
        sys.exit(what)


def findings():
    return {f["id"]: f for f in json.loads(run("list", "--json", "--all"))["findings"]}


def verify(finding, status, *arguments):
    return run("verify", finding, "--budget=30", "--timeout=2", "--", "./counter", *arguments, status=status)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    # add loses its update to look; in the next build look is well, and add still loses it to another add.
    build(SPLIT, SPLIT)
    run("explore", "--seed=1", "--budget=30", "--jobs=1", "--", "./counter", "0", "look", status=66)
    two = [i for i, f in findings().items() if {u["function"] for u in f["units"]} == {"add", "look"} and f["units"][0]["function"] == "add"]
    check(len(two) == 1, f"add against look was not found: {[f['title'] for f in findings().values()]}")
    build(SPLIT, WHOLE)
    told = verify(two[0], 66, "0")
    check("still there: add is not atomic, as reproduced by explore in F-" in told, told)
    one = [i for i, f in findings().items() if {u["function"] for u in f["units"]} == {"add"}]
    check(len(one) == 1 and findings()[one[0]]["review"] == "new", "add against add was not stored")

    # What does no harm is predicted all the same, so it is not mended.
    told = verify(one[0], 66, "1")
    check("still there: " in told and "reproduced" not in told.split("still there")[1], told)

    # Mended, with a deadlock in exchange.
    build(WHOLE, TWISTED)
    told = verify(one[0], 66, "0", "look")
    check("1 finding that nobody had found before" in told and "\n  fixed: " in told, told)
    kinds = sorted((f["kind"], f["review"]) for i, f in findings().items() if i not in two)
    check(("deadlock", "new") in kinds and ("atomicity", "fixed") in kinds, f"{kinds}")

    # What is known already does not count.
    told = verify(one[0], 0, "0", "look")
    check("nobody had found before" not in told, told)
    document = json.loads(run("verify", one[0], "--json", "--budget=5", "--", "./counter", "0", "look"))
    said = [(t["finding"], t["verdict"]) for t in document["trials"] if t["strategy"] == "verify"]
    check(said == [(one[0], "fixed")], f"{said}")

    for words in (["verify"], ["verify", one[0]], ["verify", "--", "./counter"], ["verify", "F-0000", "--", "./counter"],
                  ["verify", one[0], "--", "./nothing"], ["verify", one[0], "--budget=x", "--", "./counter"]):
        done = subprocess.run([atomsan, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, check=False)
        check(done.returncode == 1 and "atomsan" in done.stderr, f"{words}: {done.returncode} {done.stderr}")

    # Who ends it ends the step under way, too, and what is in the temporary folder goes with it.
    os.mkdir("temporary")
    for when in ("record", "explore"):
        going = subprocess.Popen([atomsan, "verify", one[0], "--budget=100000", "--", "./counter", "0", "look"],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, universal_newlines=True,
                                 env={**os.environ, "TMPDIR": f"{folder}/temporary"})
        said = ""
        while when not in said:
            said += going.stderr.read(1)
        children = pathlib.Path(f"/proc/{going.pid}/task/{going.pid}/children")
        while not children.read_text():
            time.sleep(0.01)
        children = children.read_text().split()
        going.terminate()
        check(going.wait() == -signal.SIGTERM, f"{when}: ended with {going.returncode}")
        check(not os.listdir("temporary"), f"{when}: left {os.listdir('temporary')}")
        left = [c for c in children if os.path.exists(f"/proc/{c}")]
        check(not left, f"{when}: {left} went on")
        going.stderr.close()
