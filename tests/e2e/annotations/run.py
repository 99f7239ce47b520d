#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run.py ATOMSAN CLANG SOURCE: what annotations become, held against the source's comments.

    //= STATEMENT; ...    the lines that an executable made of this source carries, no more and no fewer

What is ignored must have no access in the trace. With plain compilers the macros are nothing: the
code of a file with them equals that of the file without.
"""
import json
import os
import re
import subprocess
import sys
import tempfile


def fail(message):
    sys.exit("run.py: " + message)


def statements(source):
    found = set()
    for line in open(source):
        if "//=" in line:
            found |= {text.strip() for text in line.split("//=")[1].split(";")}
    return found


def carried(program, folder):
    section = os.path.join(folder, "section")
    subprocess.run(["objcopy", "-O", "binary", f"--only-section=atomsan_spec", program, section], check=True)
    lines = open(section).read().splitlines()
    for line in lines:
        if line.startswith("#") and not re.match(r"#line \d+ .*words\.cc?$", line):
            fail(f"'{line}' tells nothing of a place")
    return {line for line in lines if not line.startswith("#")}


def code(command, source, folder):
    """The instructions of a source, by plain compilers."""
    binary = os.path.join(folder, "plain.o")
    subprocess.run([*command, "-O2", "-c", source, "-o", binary], check=True)
    text = subprocess.run(["objdump", "-dr", "--no-show-raw-insn", binary], check=True, stdout=subprocess.PIPE, text=True).stdout
    return text.split("\n", 3)[3]


def main():
    atomsan, clang, source = sys.argv[1:]
    cxx = source.endswith(".cc")
    include = os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "../../../include")
    with tempfile.TemporaryDirectory() as folder:
        for level in ("-O0", "-O2"):
            program, trace = os.path.join(folder, "program"), os.path.join(folder, "program.atr")
            subprocess.run([atomsan, "c++" if cxx else "cc", level, "-Wall", "-Werror", "-I", include, source, "-o", program], check=True)
            found, wanted = carried(program, folder), statements(source)
            if found != wanted:
                fail(f"{source} with {level}: missing {sorted(wanted - found)}, not expected {sorted(found - wanted)}")
            subprocess.run([atomsan, "record", "--all", "-o", trace, "--", program], check=True)
            dump = subprocess.run([atomsan, "dump", "--sites", "--json", trace], check=True, stdout=subprocess.PIPE)
            names = {site.get("variable", "") for site in json.loads(dump.stdout)["sites"]}
            for name in sorted(names):
                if re.search(r"ignored|hits|statistics|probe|both", name):
                    fail(f"{source} with {level}: {name} is ignored, and yet instrumented")
            if not any("balance" in name for name in names):
                fail(f"{source} with {level}: nothing is instrumented: {names}")
        plain = os.path.join(folder, os.path.basename(source))
        with open(plain, "w") as out:
            text = re.sub(r"ATOMSAN_TYPE_\w+\(.*?\);", "", open(source).read())
            out.write(re.sub(r"ATOMSAN_\w+(\(\".*?\"\))?", "", text).replace("#include <atomsan/atomsan.h>", ""))
        for compiler in ([clang], ["g++" if cxx else "gcc"]):
            command = [*compiler, "-Wall", "-Wextra", "-Werror", "-I", include]
            if code(command, source, folder) != code(command, plain, folder):
                fail(f"{source}: macros change what {compiler[0]} makes of it")


if __name__ == "__main__":
    main()
