#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run.py ATOMSAN FOLDER NAME: records a program, predicts, and forces what was predicted.

What each program must give stands in CASES. Every schedule must be one that the program can follow, and of
those that are said to break it one must.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

# name: (patterns that must be predicted, whether a schedule must break the program)
CASES = {
    "lost": ({"RWW"}, True),
    "pair": ({"Wx Rx Ry Wy"}, True),
    "ring": ({"cycle"}, True),
    "update": ({"RWW"}, True),
    "handover": (set(), False),
    "global": ({"RWW"}, True),
}


def run(words, *statuses):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=100, check=False)
    if done.returncode not in statuses:
        sys.exit(f"{' '.join(map(str, words))}: status {done.returncode}, not one of {statuses}\n{done.stdout}{done.stderr}")
    return done


def predict(atomsan, name, work):
    """The document, of a run in which nothing went wrong."""
    trace, folder = work / f"{name}.atr", work / "schedules"
    run([atomsan, "record", "-o", trace, "--", work / name], 0, 1)
    done = run([atomsan, "predict", "--no-store", "--json", "-o", folder, trace], 0, 66)
    document = json.loads(done.stdout)
    assert (done.returncode == 66) == bool(document["findings"]), done.stdout
    return document, sorted(folder.glob("*.schedule"))


def program(atomsan, source, name, work):
    patterns, breaks = CASES[name]
    run([atomsan, "cc", "-g", "-O1", "-pthread", source / f"{name}.c", "-o", work / name], 0)
    document, schedules = predict(atomsan, name, work)
    found = {finding["pattern"] for finding in document["findings"]}
    assert patterns <= found if patterns else not found, f"{name}: {found} instead of {patterns}"
    counts = document["counts"]
    assert counts["schedules"] == len(schedules), counts
    # A pattern that repeats has a schedule for its last round, too.
    assert 2 * counts["predicted"] >= len(schedules), counts
    for key in ("threads", "entities", "locks", "events", "context switches", "already seen"):
        assert key in counts, key
    if name == "handover":
        assert counts["shared entities"] > counts["contended entities"], counts
    broken = 0
    for schedule in schedules:
        replayed = run([atomsan, "replay", "--quiet", schedule, "--", work / name], 0, 66)
        broken += replayed.returncode == 66
        text = schedule.read_text()
        assert text.startswith("atomsan schedule 1\n") and "\nrun T" in text, text
    assert bool(broken) == breaks, f"{name}: {broken} of {len(schedules)} schedules break it"
    for finding in document["findings"]:
        assert finding["state"] in ("predicted", "observed"), finding
        assert pathlib.Path(finding["schedule"]).is_file(), finding
        assert len(finding["units"]) >= 2 and len(finding["accesses"]) >= 3, finding


def spelling(atomsan, source, work):
    """However a file is spelled on the command line, its variables and its functions are of one file."""
    (work / "folder").mkdir()
    (work / "folder" / "global.c").write_text((source / "global.c").read_text())
    for name in ("folder/global.c", "./folder/global.c", "folder//global.c", "./folder/.//./global.c",
                 work / "folder" / "global.c", f"{work}/./folder//global.c"):
        run([atomsan, "cc", "-g", "-O1", "-pthread", name, "-o", work / "global"], 0)
        document, _ = predict(atomsan, "global", work)
        assert {finding["pattern"] for finding in document["findings"]} >= {"RWW"}, f"{name}: {document}"


def sinks(atomsan, source, work):
    """A prediction whose schedules are in vain is worth less from then on, and says why; one that fails is not."""
    for name, why in (("harmless", "harmless"), ("barred", "not feasible"), ("lost", "failed")):
        run([atomsan, "cc", "-g", "-O1", "-pthread", source / f"{name}.c", "-o", work / name], 0)
        run([atomsan, "record", "-o", work / "t.atr", "--", work / name], 0, 1)
        store = f"--db={work}/{name}.db"
        run([atomsan, "predict", store, work / "t.atr"], 66)

        def listed():
            findings = json.loads(run([atomsan, "list", "--json", store], 0).stdout)["findings"]
            return max(findings, key=lambda finding: finding["forced"]["schedules"])

        before = listed()
        assert before["state"] == "predicted" and not before["forced"]["schedules"], before
        run([atomsan, "explore", store, "--seed=1", "--budget=12", "--strategy=random", "-o", work / "s", "--", work / name],
            66 if name == "lost" else 0)
        after, forced = listed(), listed()["forced"]
        assert after["id"] == before["id"] and forced["schedules"] > 1, after
        told = f"{forced['schedules']} schedules tried"
        for words in (["list"], ["show", after["id"]]):
            text = run([atomsan, *words, store], 0).stdout
            assert told in text and why in text, f"{told}, {why}: {text}"
        if name == "lost":
            assert forced["failed"] and after["confidence"] >= before["confidence"], after
        else:
            assert not forced["failed"] and after["confidence"] <= before["confidence"] * 2 / 3, (before, after)
            assert bool(forced["not_feasible"]) == (name == "barred"), forced
        # Another exploration adds to it.
        run([atomsan, "explore", store, "--seed=9", "--budget=12", "--strategy=random", "-o", work / "s", "--", work / name],
            66 if name == "lost" else 0)
        assert listed()["forced"]["schedules"] > forced["schedules"], listed()


def intended(atomsan, source, work):
    """What the checker would not report is not predicted, unless it is asked for; what only looks alike is."""
    kept = {"goes_by_old", "overwrites", "makes_again", "makes_all_again", "fills_tied"}
    run([atomsan, "cc", "-g", "-O1", "-pthread", f"-I{source}/../../../include", source / "intended.c", "-o", work / "intended"], 0)
    run([atomsan, "record", "-o", work / "intended.atr", "--", work / "intended"], 0)
    for options, expected in (([], kept), (["--every-cycle"], kept | {"tries_again", "takes", "makes_once", "makes_all_once", "fills_loose"})):
        document = json.loads(run([atomsan, "predict", "--no-store", "--json", *options, work / "intended.atr"], 66).stdout)
        found = {finding["units"][0]["function"] for finding in document["findings"]}
        assert found == expected, f"{options}: {found} instead of {expected}"
        left_out = document["counts"].get("harmless and not reported", 0)
        assert bool(left_out) == (not options), document["counts"]
        told = run([atomsan, "predict", "--no-store", *options, work / "intended.atr"], 66).stdout
        assert (f"{left_out:.0f} predicted orders do no harm" in told) == (not options), told


def reread(atomsan, source, work):
    """What is read twice in one step of the thread is predicted to be read differently, and forced, unless nobody can come in between."""
    wrong = {"prints_between", "writes_between", "parts_between"}
    for options in (["-O0"], ["-O2"]):
        run([atomsan, "cc", "-g", *options, "-pthread", source / "reread.c", "-o", work / "reread"], 0)
        # The machine may be so busy that the first thread comes last: then there is nothing to predict from.
        for _ in range(10):
            if run([atomsan, "record", "-o", work / "reread.atr", "--", work / "reread"], 0, 2).returncode == 0:
                break
        folder = work / f"schedules{options[0]}"
        done = run([atomsan, "predict", "--no-store", "--json", "-o", folder, work / "reread.atr"], 66)
        findings = json.loads(done.stdout)["findings"]
        assert {finding["pattern"] for finding in findings} == {"RWR"}, findings
        assert {finding["units"][0]["function"] for finding in findings} == wrong, f"{options}: {done.stdout}"
        for finding in findings:
            told = run([atomsan, "replay", "--quiet", finding["schedule"], "--", work / "reread"], 66)
            assert "signal 11" in told.stdout + told.stderr, f"{finding['schedule']}: {told.stdout}{told.stderr}"


def pool(atomsan, source, work):
    """What is handed from thread to thread by its address is nobody else's, if values are recorded; who keeps it is told of."""
    for name, options in (("pool", []), ("keeps", ["-DKEEPS"])):
        run([atomsan, "cc", "-g", "-O1", *options, "-pthread", source / "pool.c", "-o", work / name], 0)
        run([atomsan, "record", "--values", "-o", work / "pool.atr", "--", work / name], 0, 2 if options else 0)
        done = run([atomsan, "predict", "--no-store", "--json", "-o", work / f"{name}.schedules", work / "pool.atr"],
                   66 if options else 0)
        findings = json.loads(done.stdout)["findings"]
        if not options:
            assert not findings, done.stdout
            continue
        places = {access["function"] for finding in findings for access in finding["accesses"] if finding["schedule"]}
        assert "compute" in places and "clear" in places, done.stdout
        # What it found in a queue it need not find there in another order, and then waits for it: some are not followed.
        broken = [run([atomsan, "replay", "--quiet", schedule, "--", work / name], 0, 1, 66).returncode
                  for schedule in sorted((work / f"{name}.schedules").glob("*.schedule"))[:8]]
        assert 66 in broken, broken


def twins(atomsan, source, work, name, function):
    """Of the right program nothing is predicted, however it is built and however it runs; the wrong one's function is found."""
    verb = "c++" if (source / name).suffix == ".cc" else "cc"
    for level in ("-O0", "-O2"):
        for wrong in (False, True):
            run([atomsan, verb, "-g", level, *(["-DWRONG"] if wrong else []), "-pthread", source / name, "-o", work / "twin"], 0)
            found = set()
            for _ in range(6):
                run([atomsan, "record", "-o", work / "twin.atr", "--", work / "twin"], 0, 1, -11, 139, -14, 142)
                done = run([atomsan, "predict", "--no-store", "--json", work / "twin.atr"], 0, 66)
                found |= {unit["function"] for finding in json.loads(done.stdout)["findings"] for unit in finding["units"]}
            assert function in found if wrong else not found, f"{name} {level} {'wrong' if wrong else 'right'}: {found}"


def futures(atomsan, source, work):
    """Flags that are set by an exchange, as those in futures, order who set them and who went on."""
    twins(atomsan, source, work, "futures.cc", "fill")


def events(atomsan, source, work):
    """Who takes a list knows of all that is in it when it takes it."""
    twins(atomsan, source, work, "events.c", "drain")


def refuses(atomsan, source, work):
    """What is wrong with the command line or the files is one sentence and status 1."""
    def refused(*words):
        done = run([atomsan, "predict", "--no-store", *words], 1)
        assert not done.stdout and done.stderr.count("\n") == 1, done.stdout + done.stderr
        return done.stderr

    (work / "no.atr").write_bytes(b"ATOMSAN\n" + bytes(100))
    (work / "file").write_text("")
    (work / "t.std").write_text("T0|begin(f)|1\nT0|r(x)|2\nT1|w(x)|3\nT0|w(x)|4\nT0|end(f)|5\n")
    assert "no trace" in refused()
    assert "more than one" in refused("a", "b")
    assert "--schedules" in refused("--schedules=many", work / "no.atr")
    assert "did you mean" in refused("--units=function", work / "t.std")
    refused(work / "missing.atr")
    refused(work / "no.atr")
    assert "no program" in refused("-o", work / "out", work / "t.std")
    # A text is good enough to predict from.
    done = run([atomsan, "predict", "--no-store", "--json", work / "t.std"], 66)
    assert json.loads(done.stdout)["findings"][0]["pattern"] == "RWW", done.stdout
    # A folder that cannot be made, and a trace that ends too early.
    run([atomsan, "cc", "-g", "-O1", "-pthread", source / "lost.c", "-o", work / "lost"], 0)
    run([atomsan, "record", "-o", work / "lost.atr", "--", work / "lost"], 0, 1)
    done = run([atomsan, "predict", "--no-store", "-o", work / "file" / "x", work / "lost.atr"], 1)
    assert "cannot make the folder" in done.stderr, done.stderr
    whole = (work / "lost.atr").read_bytes()
    for length in range(4096, len(whole), max(1, len(whole) // 40)):
        (work / "cut.atr").write_bytes(whole[:length])
        run([atomsan, "predict", "--no-store", "--json", work / "cut.atr"], 0, 1, 66)


def main():
    atomsan, source, name = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
    os.environ.pop("ATOMSAN_OPTIONS", None)
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        if name in ("refuses", "sinks", "spelling", "intended", "reread", "pool", "futures", "events"):
            globals()[name](atomsan, source, pathlib.Path(work))
        else:
            program(atomsan, source, name, pathlib.Path(work))


main()
