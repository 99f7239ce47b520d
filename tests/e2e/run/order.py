# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""order.py ATOMSAN SEQUENCE SOURCE BUFFER [ARGUMENT]...: is the order while it runs that of the kept trace?

Runs the program with SEQUENCE as its checker, which sums up the order in which it got the events, and has
the same tool sum up the trace that was kept. A small BUFFER (in MB) makes windows go round. The checker takes its
time between its looks at two threads (SLOWLY), where a wrong rule would show.
"""
import os
import subprocess
import sys
import tempfile


def main():
    atomsan, sequence, source, buffer = sys.argv[1:5]
    atomsan, sequence = os.path.abspath(atomsan), os.path.abspath(sequence)
    with tempfile.TemporaryDirectory() as folder:
        program, trace, sums = (os.path.join(folder, name) for name in ("program", "kept.atr", "sums"))
        os.mkdir(sums)
        subprocess.run([atomsan, "c++" if source.endswith(".cc") else "cc", "-O2", "-g", "-pthread", source,
                        "-o", program, "-lm"], check=True)
        environment = dict(os.environ, SEQUENCE=sums, SLOWLY="1",
                           ATOMSAN_OPTIONS=f"check=1:checker={sequence}:record={trace}:buffer={buffer}")
        subprocess.run([program, *sys.argv[5:]], check=True, env=environment, stdout=subprocess.DEVNULL)
        with open(os.path.join(sums, *os.listdir(sums))) as file:
            live = file.read().split()
        kept = subprocess.run([sequence, trace], check=True, capture_output=True, text=True).stdout.split()
    if live != kept or int(live[0]) < 1000:
        sys.exit(f"while it ran: {live[0]} events, sum {live[1]}; in the trace: {kept[0]}, {kept[1]}")
    print(f"{live[0]} events, sum {live[1]}")


main()
