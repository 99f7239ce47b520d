#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""inputs.py ATOMSAN FOLDER LLVM_BIN: the same program as executable, stripped executable, object files, archive,
bitcode and text gives the same finding; the finding has the id that check gives it; what cannot be read is a sentence.
"""
import json
import pathlib
import subprocess
import sys
import tempfile


def run(words, status):
    done = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode not in status:
        sys.exit(f"{' '.join(map(str, words))}: status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


def main():
    atomsan, root, llvm = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    source = root / "examples" / "bank.c"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run([atomsan, "cc", "-g", "-O2", "-pthread", "-c", source, "-o", folder / "bank.o"], (0,))
        run([atomsan, "cc", "-g", "-pthread", folder / "bank.o", "-o", folder / "bank"], (0,))
        run(["cp", folder / "bank", folder / "stripped"], (0,))
        run(["strip", folder / "stripped"], (0,))
        run(["ar", "rc", folder / "libbank.a", folder / "bank.o"], (0,))
        run([atomsan, "bitcode", "-o", folder / "bc", folder / "bank"], (0,))
        bitcode = next((folder / "bc").glob("*.bc"))
        run([llvm / "llvm-dis", bitcode, "-o", folder / "bank.ll"], (0,))
        ids = set()
        for file in ("bank", "stripped", "bank.o", "libbank.a", bitcode, "bank.ll"):
            said = json.loads(run([atomsan, "lint", "--json", "--no-store", folder / file], (66,)).stdout)
            found = [f["id"] for f in said["findings"]]
            if len(found) != 1:
                sys.exit(f"{file}: {len(found)} findings")
            ids |= set(found)
        if len(ids) != 1:
            sys.exit(f"the ids differ: {ids}")
        # The demo loses money in nearly every run; where it does, check says the same of it.
        for _ in range(5):
            run([atomsan, "record", "-o", folder / "t.atr", "--", folder / "bank"], (0, 1))
            said = json.loads(run([atomsan, "check", "--json", "--no-store", folder / "t.atr"], (0, 66)).stdout)
            if said["findings"]:
                break
        if said["findings"] and {f["id"] for f in said["findings"]} != ids:
            sys.exit(f"check says {[f['id'] for f in said['findings']]}, lint {ids}")
        sections = folder / "sections.json"
        run([atomsan, "lint", "--no-store", f"--sections={sections}", folder / "bank"], (66,))
        said = json.loads(sections.read_text())
        if not any(v["variable"] == "account.balance" and v["shared"] for v in said["variables"]):
            sys.exit("the sections do not have account.balance as shared")
        if [g["function"] for g in said["getters"]] != ["balance"] or \
                [s["function"] for s in said["setters"]] != ["set_balance"]:
            sys.exit(f"getters and setters: {said['getters']}, {said['setters']}")
        (folder / "empty").write_bytes(b"")
        (folder / "text").write_text("no program\n")
        (folder / "bad.ll").write_text("define void @f() { no }\n")
        for words in ([folder / "missing"], [folder / "empty"], [folder / "text"], [folder / "bad.ll"], ["/bin/true"], [],
                      ["--confidence=2", folder / "bank"], ["--confidence=x", folder / "bank"]):
            done = run([atomsan, "lint", "--no-store", *words], (1,))
            if len(done.stderr.strip().splitlines()) != 1:
                sys.exit(f"{words}: not one sentence: {done.stderr}")
        # Everything is reported with --all, nothing above 1.
        least = json.loads(run([atomsan, "lint", "--json", "--no-store", "--all", folder / "bank"], (66,)).stdout)
        if len(least["findings"]) < 1 or run([atomsan, "lint", "--json", "--no-store", "--confidence=1",
                                              folder / "bank"], (0,)).returncode:
            sys.exit("the confidence does not choose")


main()
