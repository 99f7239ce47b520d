#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run.py ATOMSAN SOURCES TEST: explore and replay on programs that are right, and on programs that are not.

Every choice comes from seeds, so the tests do the same every time.
"""
import glob
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ATOMSAN = os.path.abspath(sys.argv[1])
SOURCES = pathlib.Path(sys.argv[2]).absolute()
STRATEGIES = ["random", "pct", "pos", "surw"]
RIGHT = ["queue.c", "phases.c", "polling.c", "timed.c", "c11.c", "cxx.cc", "forks.c", "handler.c", "cancels.c", "kernel.c", "chain.c",
         "processors.c", "tickets.c", "asleep.c", "futex.c", "waits.cc", "idle.c"]
# What the program does wrong, and the runs that each strategy may need to find it.
WRONG = {
    "lost.c": ("wrong exit status", 50),
    "torn.c": ("assertion", 100),
    "cycle.c": ("wrong exit status", 400),
    "race.c": ("wrong exit status", 200),
    "atomics.c": ("wrong exit status", 200),
    "upgrade.c": ("crash", 100),
    "crash.c": ("crash", 200),
    "deadlock.c": ("deadlock", 200),
}


def run(*command, **options):
    options.setdefault("timeout", 120)
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, **options)


def expect(condition, *what):
    if not condition:
        sys.exit("wrong: " + " ".join(str(word) for word in what))


def build(name, to=None, *flags):
    program = os.path.abspath(to or pathlib.Path(name).stem)
    compiler = "c++" if name.endswith(".cc") else "cc"
    done = run(ATOMSAN, compiler, "-g", "-O1", "-pthread", *(["-std=c++20"] if compiler == "c++" else []), *flags, SOURCES / name, "-o", program)
    expect(done.returncode == 0, done.stderr)
    return program


def explore(program, *options, arguments=()):
    done = run(ATOMSAN, "explore", "--json", "--no-store", "-o", "schedules", *options, "--", program, *arguments)
    expect(done.returncode in (0, 66), done.returncode, done.stdout, done.stderr)
    result = json.loads(done.stdout)
    result["status"] = done.returncode
    return result


def count(result, name):
    counts = result["counts"]
    return counts[name] if isinstance(counts, dict) else {c["name"]: c["value"] for c in counts}[name]


def replay(schedule, program, *options, arguments=()):
    done = run(ATOMSAN, "replay", "--json", *options, schedule, "--", program, *arguments)
    expect(done.stdout, done.stderr)
    result = json.loads(done.stdout)
    result["status"] = done.returncode
    return result


def schedule(path, *steps, end="serial"):
    lines = ["atomsan schedule 1", "events every"] + ["run " + step for step in steps] + ["then " + end, ""]
    pathlib.Path(path).write_text("\n".join(lines))
    return path


def test_right():
    """No strategy makes a right program fail, and none hangs."""
    for name in RIGHT:
        result = explore(build(name), "--seed=1", "--budget=40", "--timeout=30")
        expect(result["status"] == 0 and count(result, "failures") == 0, name, result)
        expect(count(result, "runs") == 40, name, "was not run 40 times")


def test_wrong():
    """Every strategy finds every bug; its schedule fails again, 100 times of 100, in the same interleaving."""
    for name, (verdict, budget) in WRONG.items():
        program = build(name)
        for strategy in STRATEGIES:
            shutil.rmtree("schedules", ignore_errors=True)
            result = explore(program, "--seed=1", f"--budget={budget}", f"--strategy={strategy}", "--stop-at-first", "--no-predict",
                             "--timeout=30")
            expect(result["status"] == 66, f"{strategy} does not find the bug in {name}: {result['counts']}")
            finding = result["findings"][0]
            expect(finding["state"] == "reproduced", name, finding["state"])
            expect(os.path.dirname(finding["schedule"]) == os.path.abspath("schedules"), finding["schedule"])
            again = replay(finding["schedule"], program, "--times=100" if strategy == "random" else "--times=3")
            runs = len(again["runs"])
            expect(again["status"] == 66, name, strategy, again["status"])
            expect({r["verdict"] for r in again["runs"]} == {verdict}, name, strategy, again["runs"][0])
            expect(again["counts"] == {"runs": runs, "failed": runs, "not_followed": 0, "same_interleaving": runs},
                   name, strategy, again["counts"])
            steps = [line for line in open(finding["schedule"]) if line.startswith("run ")]
            expect(len(steps) <= 6, f"{name}: {len(steps)} steps are not few: {steps}")


def test_primitives():
    """What the runtime stands in front of does the same under the scheduler as without it."""
    names = ["allocator.c", "barrier.c", "c11.c", "cancel.c", "cond.c", "create.c", "detached.c", "early.c", "ends.cc",
             "exec.c", "fork.c", "fork-thread.c", "mutex.c", "once.cc", "robust.c", "rwlock.c", "semaphore.c", "signal.c",
             "spin.c", "unwind.cc"]
    for name in names:
        program = build("../primitives/" + name, None, "-D_GNU_SOURCE")
        plain = run(program, stdin=subprocess.DEVNULL).returncode
        for strategy in ("serial", "random", "pct"):
            environment = dict(os.environ, ATOMSAN_OPTIONS=f"sched={strategy}:seed=7")
            status = run(program, stdin=subprocess.DEVNULL, env=environment).returncode
            expect(status == plain, name, strategy, f"ends with {status} instead of {plain}")


def test_futex():
    """Who waits on a futex lets others run, and is nobody that sleeps in the kernel: 20 replays are alike, and a wait without
    end is a deadlock, said at once."""
    program = build("futex.c")
    expect(run(program).returncode == 0, "futex.c fails")
    result = explore(program, "--seed=1", "--budget=4", "--timeout=30", "--no-predict", arguments=["stuck"])
    expect(result["status"] == 66, result)
    again = replay(result["findings"][0]["schedule"], program, "--times=20", "--timeout=30", arguments=["stuck"])
    expect({r["verdict"] for r in again["runs"]} == {"deadlock"}, again["runs"][0])
    expect(again["counts"]["same_interleaving"] == 20, again["counts"])
    expect("a futex" in json.dumps(again["runs"][0]), again["runs"][0])


def test_unwritable():
    """Where schedules cannot lie beside the program they lie elsewhere, and what was found is told all the same; but who has
    named the place is told that it is none."""
    program = build("lost.c")
    pathlib.Path(".atomsan").write_text("no folder")
    done = run(ATOMSAN, "explore", "--seed=1", "--budget=50", "--stop-at-first", "--no-store", "--", program)
    expect(done.returncode == 66, done.returncode, done.stdout, done.stderr)
    expect("cannot be made" in done.stderr and done.stderr.count("\n") == 1, done.stderr)
    folder = done.stderr.split("schedules go to ")[1].strip()
    kept = glob.glob(folder + "/*.schedule")
    expect(len(kept) == 1 and kept[0] in done.stdout, kept, done.stdout)
    expect(replay(kept[0], program)["status"] == 66, "the schedule does not fail again")
    shutil.rmtree(folder)
    done = run(ATOMSAN, "explore", "--seed=1", "--budget=50", "--stop-at-first", "--no-store", "-o", ".atomsan/x", "--", program)
    expect(done.returncode == 1 and "cannot be made" in done.stderr, done.returncode, done.stderr)


def test_seed():
    """The same seed does the same, whatever the number of runs at a time; another seed does something else."""
    program = build("lost.c")
    found = []
    for seed, jobs in ((5, 1), (5, 2), (6, 1)):
        shutil.rmtree("schedules", ignore_errors=True)
        result = explore(program, f"--seed={seed}", f"--jobs={jobs}", "--budget=24", "--no-minimise", "--no-predict")
        found.append((count(result, "failures"), count(result, "switches"), count(result, "events")))
    expect(found[0] == found[1], found)
    expect(found[0] != found[2], found)
    # So with what is predicted, and what is learned from schedules that cannot be followed.
    program, found = build("../predict/barred.c"), []
    for jobs in (1, 2, 4):
        result = explore(program, "--seed=7", f"--jobs={jobs}", "--budget=40", "--no-minimise")
        found.append([count(result, name) for name in ("failures", "switches", "events", "not-followed", "spared")])
    expect(found[0] == found[1] == found[2] and found[0][3] and found[0][4], found)


def test_alone():
    """Runs that disturb each other are no failures of the program; with one at a time there are none."""
    program = build("alone.c")
    result = explore(program, "--seed=1", "--jobs=2", "--budget=8", "--no-predict")
    expect(result["status"] == 0 and count(result, "failures") == 0, result)
    expect(count(result, "disturbed") > 0, result["counts"])
    expect(count(result, "runs") == 8, result["counts"])
    result = explore(program, "--seed=1", "--jobs=1", "--budget=4", "--no-predict")
    expect(count(result, "failures") == 0 == count(result, "disturbed"), result["counts"])


def test_held():
    """Who stops explore while a failure waits to be looked at alone is told of it, and has its schedule."""
    program = build("held.c")
    runs = pathlib.Path("runs")

    def begun():
        return runs.read_text().split() if runs.exists() else []

    for mode, interrupts in (("passes", 1), ("stays", 2)):
        runs.unlink(missing_ok=True)
        shutil.rmtree("schedules", ignore_errors=True)
        tool = subprocess.Popen([ATOMSAN, "explore", "--json", "--no-store", "--no-predict", "--jobs=2", "--timeout=100", "-o",
                                 "schedules", "--", program, mode], stdout=subprocess.PIPE, universal_newlines=True)
        # The second run is over once its process was waited for; the third is still there then.
        expect(wait_until(lambda: len(begun()) == 3 and not os.path.exists(f"/proc/{begun()[1]}")), "no failure", begun())
        tool.send_signal(signal.SIGINT)
        if interrupts == 2:
            expect(wait_until(lambda: len(begun()) == 4), "it was not looked at", begun())
            tool.send_signal(signal.SIGINT)
        text = tool.communicate(timeout=60)[0]
        expect(tool.returncode == -signal.SIGINT, mode, tool.returncode)
        findings = json.loads(text)["findings"]
        expect(len(findings) == 1 and findings[0]["state"] == "observed", mode, findings)
        expect("exit status is 1" in findings[0]["title"], findings[0]["title"])
        expect("\nverdict wrong exit status" in pathlib.Path(findings[0]["schedule"]).read_text(), mode)


def test_first():
    """Bugs between locked accesses are found with fewer events, too."""
    for name in ("lost.c", "torn.c", "deadlock.c"):
        result = explore(build(name), "--seed=1", "--budget=200", "--events=first", "--stop-at-first", "--no-predict")
        expect(result["status"] == 66, name, result["counts"])
        text = open(result["findings"][0]["schedule"]).read()
        expect("\nevents first\n" in text, text)
        again = replay(result["findings"][0]["schedule"], os.path.abspath(pathlib.Path(name).stem), "--times=20")
        expect(again["counts"]["failed"] == 20 == again["counts"]["same_interleaving"], name, again["counts"])
    # What a long range is remembered by is short, and so are its repetitions.
    huge = pathlib.Path("huge.schedule")
    huge.write_text("atomsan schedule 1\nevents first\nthen serial\n")
    result = replay(huge, build("ranges.c"), "--quiet", arguments=["64"])
    expect(result["runs"][0]["verdict"] == "passed" and result["runs"][0]["events"] < 20, result)


def test_given():
    """Schedules that are given are tried first; what cannot be followed is said."""
    program = build("lost.c")
    os.mkdir("given")
    schedule("given/a.schedule", "T0 2", "T1 999")
    schedule("given/b.schedule", "T0 2", "T1 3", "T2 12")
    result = explore(program, "--seed=1", "--budget=2", "--schedules=given", "--no-predict", "--strategy=serial")
    expect(count(result, "runs-schedules") == 2 and count(result, "failures-schedules") == 1, result["counts"])
    expect(count(result, "not-followed") == 1, result["counts"])
    lost = replay("given/a.schedule", program)
    expect(lost["status"] == 1 and lost["runs"][0]["verdict"] == "schedule not followed", lost)
    expect("wants event 999 of T1, which ended after" in lost["runs"][0]["lost"], lost["runs"][0]["lost"])
    schedule("never.schedule", "T7 3")
    lost = replay("never.schedule", program)["runs"][0]["lost"]
    expect("T7, which did not exist" in lost, lost)
    schedule("held.schedule", "T0 2", "T1 1", "T2 1")
    lost = replay("held.schedule", program)["runs"][0]["lost"]
    expect("T2 had done 0 of 1 events and waited for a mutex in increment" in lost, lost)


def test_lost():
    """A schedule that is lost goes on serially, or under the strategy that is named; that one is part of the run."""
    program = build("lost.c")
    path = os.path.abspath(schedule("never.schedule", "T7 3"))

    def statuses(strategy):
        said = f"sched=follow:sched_file={path}:sched_lost={strategy}"
        return [run(program, env={**os.environ, "ATOMSAN_OPTIONS": f"{said}:seed={seed}"}) for seed in range(1, 9)]

    for quiet in ("", "serial"):
        expect(all(done.returncode == 0 for done in statuses(quiet)), "a lost schedule was not serial any more", quiet)
    for strategy in STRATEGIES:
        first = [done.returncode for done in statuses(strategy)]
        expect(1 in first, strategy, "did not take over", first)
        expect(first == [done.returncode for done in statuses(strategy)], strategy, "is not the same for the same seed")
    done = statuses("often")[0]
    expect("sched_lost=often is none of" in done.stderr, done.stderr)


def test_woken():
    """A signal wakes whom the schedule lets go on, as libc may have in the run that it was made of."""
    program = build("woken.c")
    for wanted in (1, 2):
        path = os.path.abspath(schedule("woken.schedule", "T0 2", "T1 2", "T2 2", "T0 5", f"T{wanted} 6"))
        done = run(program, env={**os.environ, "ATOMSAN_OPTIONS": f"sched=follow:sched_file={path}"})
        expect(done.returncode == wanted, f"T{wanted} was to be woken", done.returncode, done.stderr)
        followed = replay(path, program)["runs"][0]
        expect("lost" not in followed or not followed["lost"], followed)


def test_turns():
    """A strategy that is named twice has twice as many runs, and is counted once."""
    result = explore(build("queue.c"), "--seed=1", "--budget=6", "--no-predict", "--strategy=pos,random,pos")
    expect(count(result, "runs-pos") == 4 and count(result, "runs-random") == 2, result["counts"])
    trials = [trial["strategy"] for trial in result.get("trials", [])]
    expect(len(trials) == len(set(trials)), trials)


def test_free():
    """After 'then free' all threads run; threads that wait when they are freed wait on."""
    program = build("lost.c")
    result = replay(schedule("free.schedule", "T0 2", "T1 3", "T2 12", end="free"), program, "--times=20")
    expect(result["counts"]["failed"] == 20, result["counts"])
    program = build("queue.c")
    for events in (3, 5, 9, 20, 31):
        result = replay(schedule("free.schedule", "T0 4", f"T2 {events}", f"T4 {events}", f"T1 {events}", end="free"),
                        program, "--times=5")
        expect({r["verdict"] for r in result["runs"]} <= {"passed", "schedule not followed"}, result["runs"])
    program = build("phases.c")
    result = replay(schedule("free.schedule", "T0 6", "T1 5", "T2 5", end="free"), program, "--times=5")
    expect({r["verdict"] for r in result["runs"]} <= {"passed", "schedule not followed"}, result["runs"])
    program = build("deadlock.c")
    result = replay(schedule("free.schedule", "T0 2", "T1 1", "T2 1", end="free"), program, "--timeout=2")
    expect(result["runs"][0]["verdict"] == "deadlock", result)


def test_asleep():
    """A schedule waits for a thread that sleeps in the kernel, but not at each of its steps as if it were the first."""
    program = build("asleep.c")
    steps = ["T0 2", *(step for n in range(1, 16) for step in (f"T1 {n + 100}", f"T2 {n}"))]
    result = replay(schedule("asleep.schedule", *steps), program, "--timeout=12")
    expect(result["runs"][0]["verdict"] in ("passed", "schedule not followed"), result)


def test_then():
    """'then serial THREAD' lets that thread go on whenever it can, and the others only while it waits."""
    program = build("lost.c")

    def verdict(*steps, end):
        result = replay(schedule("then.schedule", *steps, end=end), program, "--times=2")
        expect(result["runs"][0]["verdict"] == result["runs"][1]["verdict"], result)
        return result["runs"][0]["verdict"]

    # T1 has read: it goes on, or it is overtaken.
    expect(verdict("T0 2", "T1 3", end="serial T1") == "passed")
    expect(verdict("T0 2", "T1 3", end="serial T2") == "wrong exit status")
    # T2 needs the lock that T1 has: T1 runs until it gives it up, and no further.
    expect(verdict("T0 2", "T1 1", end="serial") == "passed")
    expect(verdict("T0 2", "T1 1", end="serial T2") == "wrong exit status")
    # Nobody of that name is ever there.
    expect(verdict("T0 2", "T1 1", end="serial T9") == "passed")
    # All who can go on poll: each looks in turn, or the one that could go on never would.
    program = build("tickets.c")
    for last in range(1, 4):
        for end in ("serial", "serial T1", "serial T3"):
            expect(verdict("T0 3", "T1 3", f"T3 {last}", end=end) == "passed", last, end)


def test_verdicts():
    """What a run is judged by."""
    program = build("torn.c")
    assertion = schedule("a.schedule", "T0 2", "T1 3", "T2 7")
    expect(replay(assertion, program)["runs"][0]["verdict"] == "assertion", replay(assertion, program))
    expect("low == high" in replay(assertion, program)["runs"][0]["text"], replay(assertion, program))
    found = explore(build("deadlock.c"), "--seed=1", "--budget=200", "--stop-at-first")["findings"][0]
    stuck = replay(found["schedule"], os.path.abspath("deadlock"))["runs"][0]["text"]
    for words in ("T1 waits for a mutex of T2 in both", "T2 waits for a mutex of T1 in both", "T0 waits for the end of T1 in main"):
        expect(words in stuck, stuck)
    program = build("crash.c")
    found = explore(program, "--seed=1", "--budget=200", "--stop-at-first")["findings"][0]
    crash = replay(found["schedule"], program)["runs"][0]
    expect(crash["verdict"] == "crash" and "signal 11" in crash["text"] and "in use" in crash["stack"], crash)
    program = build("lost.c")
    serial = schedule("s.schedule")
    expect(replay(serial, program)["runs"][0]["verdict"] == "passed", replay(serial, program))
    expect(replay(serial, program, "--expect-status=3")["runs"][0]["verdict"] == "wrong exit status", "status")
    echo = pathlib.Path("echo.c")
    echo.write_text('#include <stdio.h>\nint main(void) { puts("out"); return 0; }\n')
    expect(run(ATOMSAN, "cc", echo, "-o", "echo").returncode == 0, "echo.c")
    pathlib.Path("good").write_text("out\n")
    pathlib.Path("bad").write_text("other\n")
    for options, verdict in ((["--expect-stdout=good"], "passed"), (["--expect-stdout=bad"], "output differs"),
                             (["--check=grep -q out"], "passed"), (["--check=grep -q other"], "check failed")):
        result = replay(serial, "./echo", *options)
        expect(result["runs"][0]["verdict"] == verdict, options, result)
    program = build("endless.c")
    expect(replay(serial, program, "--timeout=0.3")["runs"][0]["verdict"] == "time-out", "endless")
    result = replay(serial, program, arguments=["x"])
    expect(result["runs"][0]["verdict"] == "crash" and "signal 14" in result["runs"][0]["text"], result)
    # What reads its input and the terminal is left alone.
    shown = run(ATOMSAN, "replay", serial, "--", "./echo")
    expect(shown.returncode == 0 and "out\n" in shown.stdout and "passed" in shown.stdout, shown)


def test_refused():
    """Another build, other arguments, no schedule, no program: one sentence, and status 1."""
    program = build("lost.c")
    result = explore(program, "--seed=1", "--budget=50", "--stop-at-first", arguments=["x"])
    path = result["findings"][0]["schedule"]
    other = build("lost.c", "other", "-O0")
    pathlib.Path("damaged.scheduleule").write_text(open(path).read().replace("run T", "run X", 1))
    pathlib.Path("cut.schedule").write_text("".join(open(path).readlines()[:-1]))
    pathlib.Path("plain.c").write_text("int main(void) { return 0; }\n")
    expect(run("cc", "plain.c", "-o", "plain").returncode == 0, "plain.c")
    serial = schedule("s.schedule")
    for words, sentence in (([path, "--", other, "x"], "another build"), ([path, "--", program, "y"], "other arguments"),
                            (["damaged.scheduleule"], "thread's name"), (["cut.schedule"], "no line 'then'"),
                            (["plain.c"], "is not a schedule"), (["nowhere.schedule"], "cannot be read"),
                            ([serial], "does not say which program"), ([serial, "--", "./nowhere"], "no such program"),
                            ([serial, "--", "./plain"], "atomsan cc"), (["--times=x", serial], "no number"),
                            (["--tims", serial], "did you mean '--times'"), ([], "which schedule")):
        done = run(ATOMSAN, "replay", *words)
        expect(done.returncode == 1 and sentence in done.stderr and done.stderr.count("\n") == 1, words, done)
    for words, sentence in ((["--budget=x", "--", program], "--budget=x"), (["--strategy=pxt", "--", program], "'pct'"),
                            (["--", "./plain"], "atomsan cc"), (["--", "./nowhere"], "no such program"),
                            (["--schedules=" + path, "--", other], "another build"), ([], "which program")):
        done = run(ATOMSAN, "explore", *words)
        expect(done.returncode == 1 and sentence in done.stderr and done.stderr.count("\n") == 1, words, done)
    forced = run(ATOMSAN, "replay", "--force", "--quiet", path, "--", other, "x")
    expect(forced.returncode in (0, 1, 66) and forced.stdout, forced)


def test_any_build():
    """The same sources, compiled again under another name and in another folder, fail by the same schedule."""
    program = build("lost.c")
    path = explore(program, "--seed=1", "--budget=50", "--stop-at-first")["findings"][0]["schedule"]
    first = replay(path, program, "--times=3")
    pathlib.Path("elsewhere").mkdir()
    shutil.copy(SOURCES / "lost.c", "elsewhere/lost.c")
    done = run(ATOMSAN, "cc", "-g", "-O1", "-pthread", "elsewhere/lost.c", "-o", "elsewhere/lost")
    expect(done.returncode == 0, done)
    again = replay(path, "elsewhere/lost", "--times=3", "--any-build")
    expect(first["same_build"] and not again["same_build"], first, again)
    for result in (first, again):
        expect(result["counts"]["failed"] == 3 and not result["counts"]["not_followed"], result)
    expect([run["switches"] for run in again["runs"]] == [run["switches"] for run in first["runs"]], first, again)
    # Other arguments are another matter.
    done = run(ATOMSAN, "replay", "--any-build", path, "--", "elsewhere/lost", "x")
    expect(done.returncode == 1 and "other arguments" in done.stderr, done)


def alive(name):
    found = []
    for path in glob.glob("/proc/[0-9]*/exe"):
        try:
            if os.readlink(path).startswith(name):
                found.append(path)
        except OSError:
            pass
    return found


def wait_until(condition):
    for _ in range(1000):
        if condition():
            return True
        time.sleep(0.01)
    return False


def test_leftovers():
    """Nothing stays behind: no process, no file."""
    os.mkdir("temporary")
    environment = dict(os.environ, TMPDIR=os.path.abspath("temporary"))
    program = build("forks.c", "forks-" + str(os.getpid()))
    for end in ([], ["--timeout=0.2"]):
        run(ATOMSAN, "explore", "--budget=6", "--no-store", *end, "--", program, "stay", env=environment)
        expect(wait_until(lambda: not alive(program)), "left running:", alive(program))
    program = build("endless.c", "endless-" + str(os.getpid()))
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
        serial = schedule("s.schedule")
        for words in (["replay", serial], ["explore", "--no-store"]):
            tool = subprocess.Popen([ATOMSAN, *words, "--", program], env=environment, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL)
            expect(wait_until(lambda: alive(program)), "never started")
            tool.send_signal(number)
            expect(tool.wait(timeout=60) == -number, words, "did not die of the signal", tool.returncode)
            expect(wait_until(lambda: not alive(program)), words, "left running:", alive(program))
    expect(not os.listdir("temporary"), os.listdir("temporary"))


# What odd.c does, and what a run of it comes to under a schedule that fits and one that does not.
ODD = {
    "flock": ("passed", ""),
    "sleep": ("passed", ""),
    "epoll": ("passed", ""),
    "forks": ("passed", ""),
    "leaves": ("passed", ""),
    "ticks": ("passed", ""),
    "interrupts": ("passed", ""),
    "exec": ("wrong exit status", "exit status is 5"),
    "exec-other": ("wrong exit status", "exit status is 5"),
    "watchdog": ("crash", "signal 14"),
    "kills": ("crash", "signal 9"),
    "ends": ("crash", "signal 15"),
    "stuck": ("time-out", "did not end"),
    "stops": ("time-out", "did not end"),
    "spins": ("time-out", "did not end"),
}


def test_odd():
    """Whatever a program does, and whatever its schedule wants: a verdict, and nothing stays behind."""
    os.mkdir("temporary")
    os.environ["TMPDIR"] = os.path.abspath("temporary")
    program = build("odd.c", "odd-" + str(os.getpid()))
    fits = schedule("fits.schedule")
    # More of its threads than they do, threads that do not exist, and both before it is time.
    ignored = schedule("ignored.schedule", "T0 2", "T2 3", "T0 80", "T1 2", "T2 2", "T1 100000000", "T1.7 3", "T2 100000001")
    for mode, (verdict, text) in ODD.items():
        limit = "--timeout=0.4" if verdict == "time-out" else "--timeout=60"
        for path in (fits, ignored):
            result = replay(path, program, "--quiet", limit, arguments=[mode])
            ran = result["runs"][0]
            lost = path == ignored
            expect(ran["verdict"] == ("schedule not followed" if lost and verdict == "passed" else verdict), mode, path, result)
            expect(text in ran["text"] and ran["followed"] != lost, mode, path, result)
            expect(result["status"] == (66 if verdict != "passed" else 1 if lost else 0), mode, path, result)
            expect(wait_until(lambda: not alive(program)), mode, "left running:", alive(program))
        if verdict != "time-out":
            found = explore(program, "--seed=1", "--budget=3", "--jobs=2", "--no-minimise", limit, arguments=[mode])
            expect(bool(found["findings"]) == (verdict != "passed"), mode, found)
            expect(wait_until(lambda: not alive(program)), mode, "left running:", alive(program))
        expect(not os.listdir("temporary"), mode, os.listdir("temporary"))
        expect(not glob.glob("odd-??????"), mode, "left a file")


def test_gdb():
    """The debugger stops where the schedule ends."""
    if not shutil.which("gdb"):
        sys.exit(77)
    program = build("lost.c")
    path = schedule("g.schedule", "T0 2", "T1 3", "T2 12")
    done = run(ATOMSAN, "replay", "--gdb", path, "--", program, input="bt\nkill\nquit\n")
    expect("__atomsan_schedule_end" in done.stdout and "increment" in done.stdout, done.stdout, done.stderr)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    try:
        globals()["test_" + sys.argv[3]]()
    finally:
        os.chdir("/")
