#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run.py ATOMSAN SOURCE INCLUDE: what is learned, what is not, and that it adds up."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile


def run(*command, status=0, **settings):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, timeout=120, **settings)
    assert done.returncode == status, (command, done)
    return done


def sections(path):
    """The sections: (entry line, end lines) to the other lines."""
    found, key = {}, None
    for block in re.split(r"^(?=section |broken )", path.read_text(), flags=re.M)[1:]:
        places = [int(n) for n in re.findall(r"counter\.c:(\d+):", block)]
        if block.startswith("broken"):
            found.setdefault("broken", set()).add(tuple(places[:2]))
            continue
        key = (places[0], places[1])
        found[key] = block
    return found


def main():
    atomsan, source = sys.argv[1], pathlib.Path(sys.argv[2])
    lines = {}
    for number, line in enumerate(source.read_text().splitlines(), 1):
        for name in re.findall(r"@(\w+)", line):
            lines[name] = number
    learned, broken = (lines["learned1"], lines["learned2"]), (lines["broken1"], lines["broken2"])
    annotated = (lines["annotated1"], lines["annotated2"])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program, path = folder / "counter", folder / "counter.atomicity"
        run(atomsan, "cc", "-g", "-O1", "-pthread", source, "-o", program)

        # Runs that fail teach nothing, and it is said so.
        done = run(atomsan, "learn", "--runs=2", "--", program, "fail", status=1)
        assert "none of 2 runs" in done.stderr and done.stderr.count("nothing was learned from it") == 2, done
        assert not path.exists()
        # Nor do runs that the check objects to.
        done = run(atomsan, "learn", "--runs=2", "--check=grep -q nothing", "--", program, status=1)
        assert "the check says that its output is wrong" in done.stderr, done

        # What holds in every run is a section, and counted; what does not is broken, for ever.
        run(atomsan, "learn", "--runs=6", "--check=grep -q 'balance 400'", "--", program)
        found = sections(path)
        assert "from learned 6 runs 2400 times" in found[learned], found
        assert "consecutive" in found[learned] and "unit" not in found[learned], found
        assert broken in found["broken"] and broken not in found, found
        assert "from annotation" in found[annotated], found
        done = json.loads(run(atomsan, "learn", "--runs=2", "--json", "--", program).stdout)
        assert done["passed"] == 2 and done["failed"] == 0 and done["new"] == 0, done
        found = sections(path)
        assert "from learned 8 runs 3200 times" in found[learned], found
        assert broken in found["broken"] and broken not in found, found
        assert done["sections"] == len(found) - 1 and done["broken"] == len(found["broken"]), (done, found)
        # Without interleavings the pair may look whole, and yet it is not learned again.
        run(atomsan, "learn", "--runs=2", "--undisturbed", "--", program)
        assert broken not in sections(path)

        # A good program is not told off for what it taught.
        run(atomsan, "race", "--no-store", "--noise=random:100:yield", "--runs=3", f"--repository={path}", "--", program)

        # The static side knows the section, too, and the two are one.
        run(atomsan, "lint", "--no-store", f"--repository={path}", program)
        both = sections(path)[learned]
        assert "from lint load-store 800" in both and "from learned 10 runs" in both, both
        assert "consecutive" not in both, both
        # What lint says is said anew each time.
        run(atomsan, "lint", "--no-store", f"--repository={path}", program)
        assert sections(path)[learned] == both
        # Errors are one sentence.
        for words, text in ((["--runs=x"], "--runs takes a number"), (["--seed=0"], "--seed takes a number"),
                            (["--finding=F-1234"], "cannot be"), (["--repository=/nonexistent/x"], "cannot be written")):
            done = run(atomsan, "learn", *words, "--runs=1" if "runs" not in words[0] else "--json", "--", program, status=1)
            assert text in done.stderr or "no " in done.stderr, (words, done)
            assert done.stderr.count("\n") <= 2, done


main()
