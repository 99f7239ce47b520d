#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""damaged.py ATOMSAN SOURCE: bitcode that was damaged in all sorts of ways gives one sentence and status 1, or is
read all the same; never a crash, and never silence. The damage comes from a fixed seed.
"""
import pathlib
import random
import subprocess
import sys
import tempfile

ROUNDS = 60


def lint(atomsan, path):
    return subprocess.run([atomsan, "lint", "--json", "--no-store", str(path)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False, timeout=60)


def damage(random_, data, begin):
    """One of: bytes changed, cut off, a piece doubled, a piece of zeros."""
    data = bytearray(data)
    at = random_.randrange(begin, len(data))
    kind = random_.randrange(4)
    if kind == 0:
        for _ in range(random_.randrange(1, 16)):
            data[random_.randrange(begin, len(data))] = random_.randrange(256)
    elif kind == 1:
        del data[at:]
    elif kind == 2:
        piece = data[at:at + random_.randrange(4, 64)]
        data[at:at] = piece
    else:
        end = min(len(data), at + random_.randrange(4, 256))
        data[at:end] = bytes(end - at)
    return bytes(data)


def main():
    atomsan, source = sys.argv[1], sys.argv[2]
    wrong, refused, read = [], 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = folder / "program"
        subprocess.run([atomsan, "cc", "-g", "-O2", "-pthread", source, "-o", str(program)], check=True)
        subprocess.run([atomsan, "bitcode", "-o", str(folder / "bc"), str(program)], check=True)
        bitcode = next((folder / "bc").glob("*.bc")).read_bytes()
        elf = program.read_bytes()
        begin = elf.index(bitcode[:64])
        random_ = random.Random(1)
        for number in range(ROUNDS):
            victim = folder / f"{number}"
            if number % 3:
                victim = victim.with_suffix(".bc")
                victim.write_bytes(damage(random_, bitcode, 0))
            else:
                piece = elf[begin:begin + len(bitcode)]
                victim.write_bytes(elf[:begin] + damage(random_, piece, 0)[:len(piece)].ljust(len(piece), b"\0") +
                                   elf[begin + len(piece):])
            done = lint(atomsan, victim)
            said = done.stderr.decode(errors="replace").strip()
            if done.returncode == 1:
                refused += 1
                if len(said.splitlines()) != 1 or not said.startswith("atomsan lint: "):
                    wrong.append(f"round {number}: not one sentence: {said[:300]}")
            elif done.returncode in (0, 66):
                read += 1
            else:
                wrong.append(f"round {number}: status {done.returncode}: {said[:300]}")
    # Damage in bitcode is mostly noticed; that nothing was would mean that it missed.
    if refused < ROUNDS // 3:
        wrong.append(f"only {refused} of {ROUNDS} were refused, {read} were read")
    sys.exit("\n".join(wrong) if wrong else 0)


main()
