#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whatever the bytes are, `atomsan bitcode` answers with units, or with one sentence and status 1."""
import os
import random
import struct
import subprocess
import sys
import tempfile

atomsan = os.environ["ATOMSAN"]


def run(*args):
    return subprocess.run([atomsan, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def refused(path, words=None):
    out = os.path.join(os.path.dirname(path), "extracted")
    result = run("bitcode", "-o", out, path)
    lines = result.stderr.decode(errors="replace").splitlines()
    assert result.returncode == 1, (path, result)
    assert len(lines) == 1 and lines[0].startswith("atomsan bitcode: "), lines
    assert words is None or words in lines[0], (words, lines)
    assert not os.path.exists(out), "something was written before all was checked"


def write(path, content):
    with open(path, "wb") as file:
        file.write(content)
    return path


with tempfile.TemporaryDirectory() as folder:
    path = lambda name: os.path.join(folder, name)
    for name in "ab":
        write(path(name + ".c"), b"int %s(int x) { return x + 1; }\n" % name.encode())
    for name in "ab":
        subprocess.run([atomsan, "cc", "-c", name + ".c"], cwd=folder, check=True)
    subprocess.run(["ar", "rcs", "lib.a", "a.o", "b.o"], cwd=folder, check=True)
    subprocess.run(["ar", "rcsT", "thin.a", "a.o", "b.o"], cwd=folder, check=True)
    good = open(path("a.o"), "rb").read()
    archive = open(path("lib.a"), "rb").read()
    magic = good.index(b"atomsan\x01")

    refused(path("no-such-file"), "No such file")
    refused(folder, "not a regular file")
    refused(write(path("empty"), b""), "neither an ELF file")
    refused(write(path("text"), b"hello, world\n" * 100), "neither an ELF file")
    refused(write(path("cut.o"), good[: len(good) // 2]))
    refused(write(path("head.o"), good[:20]))
    refused(write(path("magic.o"), good[:magic] + b"ATOMSAN\x01" + good[magic + 8 :]), "version")
    for length in (2**64 - 1, 2**63, len(good) * 2, 1 << 32):
        changed = good[: magic + 8] + struct.pack("<Q", length) + good[magic + 16 :]
        refused(write(path("length.o"), changed), "longer than the section")
    refused(write(path("code.o"), good[: magic + 16] + b"XXXX" + good[magic + 20 :]), "not bitcode")
    refused(write(path("cut.a"), archive[: len(archive) - 100]), "damaged archive")
    refused(write(path("junk.a"), b"!<arch>\n" + b"x" * 100), "damaged archive")
    refused(write(path("names.a"), archive.replace(b"a.o/            ", b"/99999999       ", 1)), "damaged archive")
    refused(write(path("text.a"), archive[:8] + b"%-16s%-12s%-6s%-6s%-8s%-10s`\n" % (b"t/", b"0", b"0", b"0", b"644", b"6") + b"hello\n"), "neither an ELF file")
    os.remove(path("b.o"))
    refused(path("thin.a"), "b.o")

    # Any damage at all: never a crash, never anything but status 0 or 1.
    seed = int(os.environ.get("SEED", "1"))
    print("seed", seed)
    numbers = random.Random(seed)
    for original in (good, archive):
        for i in range(150):
            changed = bytearray(original)
            for _ in range(numbers.choice((1, 2, 8, 64))):
                changed[numbers.randrange(len(changed))] = numbers.randrange(256)
            if numbers.random() < 0.3:
                del changed[numbers.randrange(len(changed)) :]
            result = run("bitcode", write(path("changed"), bytes(changed)))
            assert result.returncode in (0, 1), (i, result)
            assert result.returncode == 0 or len(result.stderr.splitlines()) == 1, (i, result)
        # Inside the bitcode, where the source's name is looked for.
        for i in range(150):
            changed = bytearray(good)
            for _ in range(numbers.choice((1, 4, 16))):
                changed[magic + 20 + numbers.randrange(400)] = numbers.randrange(256)
            result = run("bitcode", write(path("changed.o"), bytes(changed)))
            assert result.returncode == 0, (i, result)
