#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""halves.py ATOMSAN: a finding shows one unit that another broke with a write. Where that write is half of an update,
either may be broken next time, so healing keeps both whole; a function that only writes needs nothing. What is learned for
race is what was shown, and no more."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

atomsan = str(pathlib.Path(sys.argv[1]).resolve())
for name in ("ATOMSAN_DB", "ATOMSAN_OPTIONS"):
    os.environ.pop(name, None)
SOURCE = r"""
#include <pthread.h>

struct server {
	int logins, limit;
};
static struct server server;

static void log_in(struct server *s)
{
	int logins = s->logins;

	s->logins = logins + 1;
}

static void log_out(struct server *s)
{
	s->logins--;
}

static void set_limit(struct server *s)
{
	s->limit = 5;
}

static void raise_limit(struct server *s)
{
	s->limit++;
}

static void *client(void *p)
{
	log_in(p);
	set_limit(p);
	return NULL;
}

static void *timer(void *p)
{
	log_out(p);
	raise_limit(p);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, client, &server);
	pthread_create(&threads[1], NULL, timer, &server);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
"""


def run(*words, ok=(0, 66)):
    done = subprocess.run([atomsan, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, check=False)
    if done.returncode not in ok:
        sys.exit(f"atomsan {' '.join(words)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")


def units(path):
    return set(re.findall(r"^  unit (\w+)", pathlib.Path(path).read_text(), re.M))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    pathlib.Path("server.c").write_text(SOURCE)
    run("cc", "-g", "-O1", "-pthread", "server.c", "-o", "server")
    run("record", "-o", "t.atr", "--", "./server")
    run("predict", "t.atr", ok=(66,))
    run("heal", "--from-findings", "--no-store", "--", "./server")
    healed = units("server.atomicity")
    if healed != {"log_in", "log_out", "raise_limit"}:
        sys.exit(f"healed are {healed}")
    os.remove("server.atomicity")
    run("learn", "--from-findings", "--runs=0", "--", "./server")
    if not units("server.atomicity") < healed:
        sys.exit(f"learned are {units('server.atomicity')}")
