#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""old.py ATOMSAN FOLDER: bitcode that other versions of clang have made is read, alone and beside our own, in either
order, and gives the finding that our own gives. The folder has some of clang 14, and what other versions are installed
make theirs here.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

OTHERS = range(14, 22)


def found(atomsan, *files):
    done = subprocess.run([atomsan, "lint", "--json", "--no-store", *map(str, files)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 66:
        sys.exit(f"{files}: status {done.returncode}\n{done.stdout}\n{done.stderr}")
    findings = json.loads(done.stdout)["findings"]
    if [(f["units"][0]["function"], f["kind"], f["variables"]) for f in findings] != [
            ("deposit", "stale-value", ["account.balance"])]:
        sys.exit(f"{files}: {[f['title'] for f in findings]}")
    return [f["id"] for f in findings]


def main():
    atomsan, here = sys.argv[1], pathlib.Path(sys.argv[2])
    kept = here / "old.bc"
    if kept.read_bytes()[:2] != b"BC":
        sys.exit("old.bc is no bitcode")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source = folder / "old.c"
        source.write_text((here / "old.c").read_text())
        for part in ("old", "old_main"):
            subprocess.run([atomsan, "cc", "-g", "-O1", "-c", here / f"{part}.c", "-o", folder / f"{part}.o"], check=True)
        rest = folder / "old_main.o"
        ids = found(atomsan, folder / "old.o", rest)
        others = [kept]
        for version in OTHERS:
            clang = shutil.which(f"clang-{version}")
            if clang:
                others.append(folder / f"clang-{version}.bc")
                subprocess.run([clang, "-g", "-O1", "-c", "-emit-llvm", source, "-o", others[-1]], check=True)
        for other in others:
            found(atomsan, other)
            if found(atomsan, other, rest) != ids or found(atomsan, rest, other) != ids:
                sys.exit(f"{other.name}: another finding than {ids}")


main()
