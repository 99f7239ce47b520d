#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""hostile.py ATOMSAN: a real program whose sources try to be something else: its file's name, the text of its lines and the
names of what is in it are markup, escapes of terminals, commands of CI and no UTF-8. Whatever is written of it is text."""
import html.parser
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

atomsan = os.fsencode(pathlib.Path(sys.argv[1]).resolve())
for name in ("ATOMSAN_DB", "ATOMSAN_OPTIONS"):
    os.environ.pop(name, None)

NASTY = b"</script><img src=x onerror=alert(1)>\x1b[31m\x1b]0;x\x07\xff\xc3\x28\xe2\x80\xa8::error::{0}[x](y)\xe2\x80\xae&amp;"
# JSON cannot say the second name, so its lines cannot be looked up in what was stored; all else is the same.
FILES = [b"<b>\x1b[7m::error::,%0A{0}" + "\u202e\u2028".encode() + b"&lt;.c", b"<b>\xff*?[x].c"]
SOURCE = b"""#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
struct acc\xc3\xb6unt {
	pthread_mutex_t lock;
	long bal\xc3\xa4nce; /* NASTY */
};
static struct acc\xc3\xb6unt account = {.lock = PTHREAD_MUTEX_INITIALIZER};
static atomic_int readers;
void dep\xe2\x84\x8dosit(struct acc\xc3\xb6unt *a, long amount)
{
	pthread_mutex_lock(&a->lock); /* NASTY */
	long now = a->bal\xc3\xa4nce; /* NASTY */
	pthread_mutex_unlock(&a->lock);
	readers++;
	while (readers < 2)
		sched_yield();
	pthread_mutex_lock(&a->lock);
	a->bal\xc3\xa4nce = now + amount; /* NASTY */
	pthread_mutex_unlock(&a->lock);
}
static void *teller(void *unused)
{
	dep\xe2\x84\x8dosit(&account, 1);
	return unused;
}
int main(void)
{
	pthread_t tellers[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&tellers[i], 0, teller, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(tellers[i], 0);
	return 0;
}
""".replace(b"NASTY", NASTY)


def run(*words, ok=(0,)):
    done = subprocess.run([atomsan, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode not in ok:
        sys.exit(f"atomsan {words}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def check(condition, what):
    if not condition:
        sys.exit(what)


def check_text(text, what):
    said = text.decode("utf-8")
    check(not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]", said), f"{what}: control characters came through: {text}")
    check(not re.search("^::(?!(error|warning|notice) (file=[^,:]+,line=[0-9]+,(col=[0-9]+,)?)?title=)", said, re.M), f"{what}: a command of its own")


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags = []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)


def look(file, readable):
    pathlib.Path(os.fsdecode(file)).write_bytes(SOURCE)
    run("cc", "-g", "-O1", "-pthread", "-Wno-everything", file, "-o", "prog")
    run("record", "-o", "t.atr", "--", "./prog")
    told = run("check", "--github", "t.atr", ok=(66,))
    check_text(told, "check")
    check(b"long now = a->bal" in told and b"onerror=alert(1)" in told, f"its lines are there, as text: {told}")
    found = json.loads(run("list", "--json"))["findings"]
    check(len(found) == 1 and "osit" in found[0]["title"], f"{found}")
    for words in (["list"], ["show", found[0]["id"]], ["report", "--format=text"], ["report", "--format=github"], ["list", "--json"],
                  ["report", "--format=sarif"], ["report", "--format=perfetto"], ["suppress", found[0]["id"], "--by=file", "--reason=x"]):
        check_text(run(*words), " ".join(words))
    check(b"SUMMARY: atomsan: no findings (1 suppressed)" in run("check", "t.atr"), "by the name of its file it can be suppressed")
    page = run("report", "--format=html")
    reader = Page()
    reader.feed(page.decode("utf-8"))
    check(reader.tags.count("script") == 2 and "img" not in reader.tags and "b" not in reader.tags, f"{reader.tags}")
    inside = json.loads(re.search(rb'id="data">(.*?)</script>', page, re.S)[1])
    lines = [line for parts in inside["sources"].values() for _, part in parts for line in part]
    check(any("<img src=x onerror=alert(1)>" in line for line in lines) == readable, "the page has its lines, if they can be read")


for number, name in enumerate(FILES):
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        look(name, number == 0)
        os.chdir("/")
