#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""turns.py ATOMSAN CORPUS LATE: whole units that take turns, where taking gates in a wrong order would let one in.

bounded_buffer: a unit that stands in line before its first lock, while another one has just come back from waiting for a
condition, holds that lock and closes its gate. The first must leave the line and not go past the gate.

late.c: an end under a lock that the entry has not. Who learns that must have the lock's gate before the others know of it,
and who has waited meanwhile must take the gate first. bubble_sort: the same in an array, so that entry and end are at
different distances from the lock.

No run fails, and nobody is let through because waiting might not have ended ("by scheduling"): never in late.c, and once
in four runs at most in the others, where noise may bring about an order that nobody has seen yet.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

RUNS = 40
NOISE = "noise=random,50,sleep,200"
PATIENT = "heal_timeout=20000:verbosity=1"  # so that a machine that has other things to do is not taken for a circle
SECTIONS = {
    "bounded_buffer": [
        ("buffer.count", "R buffer.count wait_for_room bounded_buffer.c:{count >= SIZE}:0",
         "R buffer.in fill bounded_buffer.c:{item[b->in]}:0", "put"),
        ("buffer.count", "R buffer.count get bounded_buffer.c:{count == 0}:0",
         "R buffer.item[] get bounded_buffer.c:{item[b->out]}:0", "get")],
    "late": [
        ("table.value", "R table.value update late.c:{/* entry */}:0", "W table.value set late.c:{/* end */}:0", "update")],
    "bubble_sort": [
        ("array.item[]", "R array.item[] bubble bubble_sort.c:{item[i] > }:0",
         "R array.item[] exchange bubble_sort.c:{left = a->item[i]}:0", "bubble")],
}


def fail(text):
    sys.exit(f"turns.py: {text}")


def repository(name, source):
    """With the number of the line that has the text in braces."""
    lines = source.read_text().splitlines()

    def line_of(found):
        return str(1 + next(i for i, line in enumerate(lines) if found[1] in line))

    said = ["atomicity 1"]
    for number, (variable, entry, end, unit) in enumerate(SECTIONS[name]):
        said += [f"section A-0000000{number} {variable}", f"  entry {entry}", f"  end {end}", f"  unit {unit} {name}.c",
                 "  instance any", "  from finding V-1 open"]
    return re.sub(r"\{(.*?)\}", line_of, "\n".join(said) + "\n")


def run(program, options, seed):
    done = subprocess.run([str(program)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=300, text=True,
                          env=dict(os.environ, ATOMSAN_OPTIONS=f"{options}:seed={seed}"), check=False)
    if done.returncode not in (0, 1):
        fail(f"{program} ended with {done.returncode}: {done.stderr}")
    return done


def whole(program, options, runs, most):
    """How often somebody was kept out, in runs none of which fails."""
    kept_out = let_through = 0
    for seed in range(1, runs + 1):
        done = run(program, options, seed)
        told = re.findall(r"healed (\d+), by scheduling (\d+), too late (\d+)", done.stderr)
        if done.returncode or not told:
            fail(f"{program}, {options}:seed={seed}: status {done.returncode}: {done.stderr}")
        let_through += sum(int(scheduled) + int(late) for _, scheduled, late in told)
        if let_through > most:
            fail(f"{program}, {options}:seed={seed}: somebody was let through, {let_through} times: {done.stderr}")
        kept_out += sum(int(healed) for healed, _, _ in told)
    return kept_out


def main():
    atomsan, corpus = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    late = pathlib.Path(sys.argv[3]).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        for name in SECTIONS:
            source, folder = corpus / "wrong" / name / f"{name}.c", pathlib.Path(scratch)
            runs, most = (8, 0) if name == "late" else (RUNS, RUNS // 4)
            source = late if name == "late" else source
            table = folder / f"{name}.atomicity"
            table.write_text(repository(name, source))
            for program, words in (("tested", []), ("field", [f"--heal={table}"])):
                built = subprocess.run([atomsan, "cc", *words, "-g", "-O2", "-pthread", source, "-o", folder / program],
                                       stderr=subprocess.PIPE, text=True, check=False)
                if built.returncode or built.stderr:
                    fail(f"{name}, {program} does not build: {built.stderr}")
            if not sum(run(folder / "tested", NOISE, seed).returncode for seed in range(1, runs + 1)):
                fail(f"{name}: noise alone does not make it fail, so there is nothing to be seen")
            kept_out = whole(folder / "tested", f"{NOISE}:heal=1:repository={table}:{PATIENT}", runs, most)
            if not kept_out:
                fail(f"{name}: nobody was ever kept out")
            whole(folder / "field", PATIENT, runs, most)
            print(f"{name}: {runs} runs in two forms, {kept_out} times somebody was kept out")


main()
