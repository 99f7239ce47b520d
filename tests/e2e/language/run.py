# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run.py ATOMSAN CLANG SOURCE FLAG...: instrumented, off and recording, the program prints what it prints without."""
import os
import subprocess
import sys
import tempfile


def output(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr}")
    return done.stdout


def main():
    atomsan, clang, source, *flags = sys.argv[1:]
    atomsan = os.path.abspath(atomsan)
    cxx = source.endswith(".cc")
    with tempfile.TemporaryDirectory() as folder:
        plain, program = os.path.join(folder, "plain"), os.path.join(folder, "program")
        trace = os.path.join(folder, "trace.atr")
        output([clang, *flags, source, "-o", plain])
        output([atomsan, "c++" if cxx else "cc", *flags, source, "-o", program])
        wanted = output([plain])
        if wanted.count("\n") < 3:
            sys.exit(f"the plain program printed only: {wanted}")
        for what, command in (("off", [program]), ("recorded", [atomsan, "record", "-o", trace, "--", program]),
                              ("all", [atomsan, "record", "--all", "-o", trace, "--", program])):
            got = output(command)
            if got != wanted:
                sys.exit(f"{what}, with {' '.join(flags)}: printed\n{got}instead of\n{wanted}")
        statistics = output([atomsan, "dump", "--stats", trace])
        if " write " not in statistics or " atomic-" not in statistics and not cxx:
            sys.exit(f"accesses are missing in the trace:\n{statistics}")


if __name__ == "__main__":
    main()
