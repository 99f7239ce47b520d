# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""launch.py ATOMSAN EXAMPLES single.c: `atomsan run` as a command."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile


def main():
    atomsan, examples, single_source = (os.path.abspath(word) for word in sys.argv[1:4])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)

        def build(source, program, *flags):
            subprocess.run([atomsan, "cc", "-O1", "-g", "-pthread", source, "-o", program, *flags], check=True)

        def run(words, status, errors):
            done = subprocess.run([atomsan, "run", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  timeout=120, env=dict(os.environ, TMPDIR=folder))
            what = f"atomsan run {' '.join(words)}: "
            if done.returncode != status:
                sys.exit(f"{what}exit status {done.returncode}, not {status}\n{done.stderr}")
            if not re.search(errors, done.stderr):
                sys.exit(f"{what}{done.stderr!r} has no {errors!r}")
            left = [name for name in os.listdir(folder) if name.startswith("atomsan-run-")]
            if left:
                sys.exit(f"{what}leaves {left}")

        build(os.path.join(examples, "bank.c"), "bank")
        build(single_source, "single")
        bank = ["--no-store", "--", "./bank"]
        # The bank loses money in nearly every run, not in each.
        for attempt in range(20):
            done = subprocess.run([atomsan, "run", *bank], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            if done.returncode == 66:
                break
        else:
            sys.exit(f"the bank has lost nothing in {attempt + 1} runs: {done}")
        if "deposit is not atomic" not in done.stderr or "SUMMARY: atomsan: 1 finding" not in done.stderr:
            sys.exit(f"the bank: {done.stderr}")
        identity = re.search(r"F-[0-9a-f]+", done.stderr)[0]

        # Suppressed, it is no finding, and is not printed.
        with open("supp", "w") as file:
            file.write(f"id:{identity}  # it is only an example\n")
        done = subprocess.run([atomsan, "run", "--suppressions=supp", *bank], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        if "deposit" in done.stderr or "SUMMARY: atomsan: no findings" not in done.stderr or done.returncode == 66:
            sys.exit(f"what is suppressed was printed: {done.stderr}")

        # Somewhere else than to standard error, and as a document.
        for attempt in range(20):
            done = subprocess.run([atomsan, "run", "--json", "--plain-seconds=0.25", *bank], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, env=dict(os.environ, ATOMSAN_OPTIONS=f"log_path={folder}/log"))
            if done.returncode == 66:
                break
        document = json.loads(done.stdout[done.stdout.index("{\n"):])
        counts = document["counts"]
        if abs(counts["overhead"] - 4 * (counts["program CPU seconds"] + counts["checker CPU seconds"])) > 1e-6:
            sys.exit(f"the overhead is not what it took, in multiples of the plain program's time: {counts}")
        run(["--plain-seconds=0", *bank], 1, "--plain-seconds")
        if document["verb"] != "run" or [f["id"] for f in document["findings"]] != [identity]:
            sys.exit(f"the document: {document}")
        if done.stderr or identity not in open("log").read():
            sys.exit(f"log_path: {done.stderr!r}")

        # Without threads there is nothing to check, and no checker; with too many events for the buffer there is.
        run(["--no-store", "--", "./single", "1", "write"], 3, errors="^$")
        run(["--no-store", "--verbose", "--buffer=1", "--", "./single", "500", "write"], 3, errors="[0-9]+ events of")
        # A descriptor is needed until then; who closes it is checked from the first thread on.
        run(["--no-store", "--verbose", "--", "./single", "1", "close", "thread"], 3, errors="[0-9]+ events of")
        run(["--no-store", "--verbose", "--", "./single", "10", "thread", "close", "write"], 3, errors="[0-9]{5} events of")
        run(["--no-store", "--verbose", "--buffer=1", "--", "./single", "500", "close", "write", "thread"], 3,
            errors="[0-9]+ events of")
        # Of a script each program is checked.
        run(["--no-store", "--verbose", "--", "sh", "-c", "./single 1 thread; ./single 1 thread; exit 5"], 5,
            errors="(?s)events of.*events of")
        # Limits of the process.
        run(["--no-store", "--verbose", "--", "sh", "-c", "ulimit -S -f 100; ulimit -n 20; ./single 1 thread"], 3,
            errors="events of")
        run(["--no-store", "--", "sh", "-c", "ulimit -f 100; ./single 1 thread"], 1, errors="runs unchecked")

        # A program that is ended ends this command in the same way.
        run(["--no-store", "--", "sh", "-c", "./single 1 thread; kill -9 $$"], -signal.SIGKILL, errors="no findings")

        # What cannot be.
        run(["--", "./none"], 1, errors="./none: No such file")
        run(["--", "/bin/true"], 1, errors="was not checked: was it built with 'atomsan cc'")
        run([], 1, errors="which program")
        run(["--buffer=x", "--", "./bank"], 1, errors="--buffer takes megabytes, not 'x'")
        run(["--keep-trace=a:b", "--", "./bank"], 1, errors="may not have a colon")
        run(["--units=what", "--", "./single", "1", "thread"], 1, errors="--units does not know 'what'")


main()
