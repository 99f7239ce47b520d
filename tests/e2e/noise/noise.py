#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""noise.py ATOMSAN STEPS.C: noise is made where it is asked for, as strong as asked, the same again for the same seed.

What threads decided is read from the runtime's own messages (verbosity=1): for each thread how many events it
had, how many decisions, how many strikes, and a digest of which.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

LINE = re.compile(r"noise in (\S+): (\d+) events, (\d+) decisions, (\d+) strikes, digest ([0-9a-f]+)")
wrong = []


def expect(condition, sentence):
    if not condition:
        wrong.append(sentence)


def run(program, noise, *arguments, seed=5, more=""):
    """What each thread decided, and what the program said."""
    options = f"noise={noise}:seed={seed}:verbosity=1{more}"
    done = subprocess.run([program, *arguments], env=dict(os.environ, ATOMSAN_OPTIONS=options), check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=100)
    threads = {name: (int(events), int(decisions), int(strikes), digest)
               for name, events, decisions, strikes, digest in LINE.findall(done.stderr)}
    return threads, done.stdout, done.stderr


def decisions_are_made_again(program):
    first, output, _ = run(program, "random,100,yield", "3")
    again, same, _ = run(program, "random,100,yield", "3")
    other, _, _ = run(program, "random,100,yield", "3", seed=6)
    sleepy, _, _ = run(program, "random,100,sleep,1", "3", more=":race=1")
    expect(set(first) == {"T0", "T1", "T2", "T3"}, f"threads: {first}")
    expect(output == same, "the program's result is another")
    # T0 waits and prints, which is its own doing, too.
    expect(first == again, f"the same seed decided otherwise: {first} and {again}")
    expect(first["T1"] != first["T2"], "two threads decide alike")
    expect(first["T1"][3] != other["T1"][3], "another seed decides alike")
    expect(first["T1"] == sleepy["T1"], f"watching changes decisions: {first['T1']} and {sleepy['T1']}")
    for name in ("T1", "T2", "T3"):
        events, decisions, strikes, _ = first[name]
        expect(events == decisions and events >= 3000, f"{name} has {events} events, {decisions} decisions")
        expect(0.07 < strikes / events < 0.13, f"{name}: {strikes} of {events} are not 100 per mille")


def noise_is_aimed(program, source):
    by_member, _, _ = run(program, "var,account.limit,1000,yield", "2")
    by_type, _, _ = run(program, "var,account,1000,yield", "2")
    by_global, _, _ = run(program, "var,total,1000,yield", "2")
    lines = source.read_text().splitlines()
    line = 1 + next(i for i, text in enumerate(lines) if "mine->limit = " in text)
    by_place, _, _ = run(program, f"place,{source.name},{line},1000,yield", "2")
    nowhere, _, _ = run(program, f"place,{source.name},1,1000,yield;var,nobody,1000,yield", "2")
    # The write of limit, and the read of it every 50th time: the optimiser may keep that one's value.
    expect(1000 <= by_member["T1"][2] <= 1020, f"limit is written 1000 times: {by_member['T1']}")
    expect(by_type["T1"][2] > by_member["T1"][2] + 900, f"and balance is accessed, too: {by_type['T1']}")
    expect(20 <= by_global["T1"][2] <= 60, f"total is updated 20 times: {by_global['T1']}")
    expect(1000 <= by_place["T1"][2] <= 3000, f"the place is passed 1000 times: {by_place['T1']}")
    expect(nowhere["T1"][1] == 0, f"what is not there is not struck: {nowhere['T1']}")
    both, _, _ = run(program, "var,account.limit,0,yield;var,account,1000,yield", "2")
    expect(both["T1"] == by_type["T1"] or both["T1"][2] == by_type["T1"][2], "the strongest of several applies")


def budget_is_kept(atomsan, program):
    def left_out(*options):
        done = subprocess.run([atomsan, "race", "--json", "--no-store", "--seed=5", "--noise=random:1000:busy:100",
                               *options, "--", program, "2"], check=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, universal_newlines=True, timeout=100).stdout
        said = __import__("json").loads(done)["counts"]
        return said["noise-strikes"], said["noise-left-out"]

    strikes, left = left_out("--noise-budget=10")
    expect(left > strikes / 2, f"a tenth of the time is not so much: {left} of {strikes} left out")
    strikes, left = left_out("--noise-budget=0")
    expect(left == 0 and strikes > 4000, f"without a limit nothing is left out: {left} of {strikes}")


def mistakes_are_said(atomsan, program):
    pathlib.Path("empty").write_text("atomicity 1\n")
    for noise, word in (("random", "none of"), ("random:2000", "strength"), ("var:x", "strength"),
                        ("place:a.c:3", "strength"), ("random:5:loud", "sleep"), ("random:5:sleep:x", "microseconds"),
                        ("findings", "no")):
        for verb, *more in (["race"], ["run"], ["record"], ["heal", "--repository=empty"], ["learn", "--runs=1"]):
            done = subprocess.run([atomsan, verb, *more, f"--noise={noise}", "--", program], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, universal_newlines=True, timeout=100, check=False)
            expect(done.returncode == 1 and done.stderr.startswith(f"atomsan {verb}: ") and
                   done.stderr.count("\n") == 1, f"{verb} --noise={noise}: {done.returncode} {done.stderr}")
            expect(word in done.stderr or noise == "findings", f"{verb} --noise={noise}: {done.stderr}")
    for verb, *more in (["race"], ["record"], ["heal", "--repository=empty"], ["learn", "--runs=1"]):
        done = subprocess.run([atomsan, verb, *more, "--noise-budget=much", "--", program],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, check=False)
        expect(done.returncode == 1 and "percents" in done.stderr, f"--noise-budget: {done.stderr}")
    _, _, said = run(program, "random,50;nonsense,3", "1")
    expect("nonsense" in said, "the runtime says what it does not understand")


def other_verbs(atomsan, program):
    """Noise with a trace being written: all is recorded as ever."""
    pathlib.Path("one").write_text("atomicity 1\nsection A-1 account.limit\n  entry R account.limit work steps.c:1:1\n"
                                   "  end W account.limit work steps.c:2:1\n")
    for verb, more in (("record", ["-o", "noise.atr"]), ("run", ["--no-store"]), ("heal", ["--repository=one"])):
        done = subprocess.run([atomsan, verb, *more, "--noise=random:50:yield", "--seed=5", "--", program, "2"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=100,
                              check=False, env=dict(os.environ, ATOMSAN_OPTIONS="verbosity=1"))
        expect(done.returncode == 0, f"{verb}: {done.returncode} {done.stderr}")
        found = {line[0]: line for line in LINE.findall(done.stderr)}
        expect(int(found.get("T1", ("", 0, 0, 0, ""))[3]) > 100, f"{verb}: no strikes: {done.stderr}")
    # Threads are let go behind the only step, and pause then as in any run.
    pathlib.Path("schedule").write_text("atomsan schedule 1\nevents every\nrun T0 1\nthen free\n")
    done = subprocess.run([atomsan, "replay", "--noise=random:50:yield", "--seed=5", "--force", "schedule", "--", program, "2"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=100,
                          check=False, env=dict(os.environ, ATOMSAN_OPTIONS="verbosity=1"))
    expect(done.returncode == 0, f"replay: {done.returncode} {done.stdout}{done.stderr}")
    found = {line[0]: line for line in LINE.findall(done.stderr)}
    expect(int(found.get("T1", ("", 0, 0, 0, ""))[3]) > 100, f"replay: no strikes: {done.stderr}")
    done = subprocess.run([atomsan, "check", "--no-store", "--json", "noise.atr"], stdout=subprocess.PIPE,
                          universal_newlines=True, timeout=100, check=False)
    expect(done.returncode == 0, "check finds something in a recording with noise")


def main():
    atomsan, source = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        program = os.path.join(work, "steps")
        subprocess.run([atomsan, "cc", "-O1", "-g", "-pthread", source, "-o", program], check=True)
        decisions_are_made_again(program)
        noise_is_aimed(program, source)
        budget_is_kept(atomsan, program)
        mistakes_are_said(atomsan, program)
        other_verbs(atomsan, program)
        os.chdir("/")
    sys.exit("\n".join(wrong) if wrong else 0)


main()
