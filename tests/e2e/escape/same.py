#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""same.py ATOMSAN ROOT: the checker finds the same with private places as without.

Programs of the corpus, wrong ones staged so that they show what is wrong with them, and some of bench/workloads at small
sizes. Each is recorded once and checked twice. Prints how many accesses were left out.
"""
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

WRONG = ("account", "array_list", "bank", "bounded_buffer", "bubble_sort", "dcl", "linked_list", "lottery", "merge_sort",
         "pool", "raytracer", "string_buffer", "vector")
RIGHT = ("hand_over", "init_before_create", "local", "merge_sort", "publication")
WORKLOADS = {"compress": 64, "sort": 4000, "tree": 4000, "matrix": 40, "wordcount": 8}
# Where there is something to leave out that the compiler did not leave out already.
SOME = {"bench/tree", "wrong/array_list"}


def run(*words, statuses=(0,)):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=200, check=False)
    if done.returncode not in statuses:
        raise RuntimeError(f"{' '.join(map(str, words))}: status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def one(atomsan, name, source, flags, arguments):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        run(atomsan, "c++" if source.suffix == ".cc" else "cc", "-g", "-O2", "-pthread", *flags, source, "-lm",
            "-o", folder / "program")
        run(atomsan, "lint", f"--private={folder / 'private'}", folder / "program", statuses=(0, 66))
        # A wrong program may notice that it went wrong; its status is record's.
        run(atomsan, "record", "-o", folder / "trace", "--", folder / "program", *arguments, statuses=(0, 1))
        without, less = (json.loads(run(atomsan, "check", "--json", "--no-store", *more, folder / "trace", statuses=(0, 66)))
                         for more in ([], [f"--spec={folder / 'private'}"]))
        accesses = without["counts"]["accesses"]
        left_out = less["counts"].get("accesses to private data left out", 0)
        ids = [sorted(finding["id"] for finding in said["findings"]) for said in (without, less)]
        wrong = []
        if ids[0] != ids[1]:
            wrong.append(f"without {ids[0]}, with private places {ids[1]}")
        if less["counts"]["accesses"] + left_out != accesses:
            wrong.append(f"{left_out} of {accesses} accesses are left out, but {less['counts']['accesses']} remain")
        if name.startswith("wrong/") and not ids[0]:
            wrong.append("there is nothing to be found")
        if name in SOME and not left_out:
            wrong.append("nothing is left out")
        print(f"{name}: {len(ids[0])} findings, {left_out} of {accesses} accesses left out", flush=True)
        return [f"{name}: {text}" for text in wrong]


def main():
    atomsan, root = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    jobs = []
    for side, names, flags in (("wrong", WRONG, ["-DSTAGED"]), ("right", RIGHT, ["-DSTAGED"])):
        for name in names:
            found = [path for path in sorted((root / "tests/corpus" / side / name).iterdir())
                     if path.suffix in (".c", ".cc")]
            jobs.append((f"{side}/{name}", found[0], flags, []))
    for name, size in WORKLOADS.items():
        jobs.append((f"bench/{name}", next((root / "bench/workloads").glob(name + ".c*")), [], ["-n", size]))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        wrong = [text for texts in pool.map(lambda job: one(atomsan, *job), jobs) for text in texts]
    sys.exit("\n".join(wrong) if wrong else 0)


main()
