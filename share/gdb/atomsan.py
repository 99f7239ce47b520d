# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Commands for gdb that know the findings of atomsan.

    source /usr/share/atomsan/gdb/atomsan.py

atomsan why [FINDING]     which findings the current line or function takes part in, and as what step
atomsan list              all findings of the store
atomsan break FINDING     a breakpoint at every step of a finding
atomsan store FILE        use this store; without, .atomsan/findings.db beside the program or here

The store is read by the atomsan in PATH, or by the one that the environment variable ATOMSAN names.
"""
import json
import os
import subprocess

import gdb

OPS = {"R": "reads", "W": "writes", "U": "updates", "L": "locks", "A": "unlocks", "B": "waits for"}
chosen_store = None


def printable(text):
    """Names come from anywhere: what could move the cursor is shown as its code."""
    return "".join(c if c.isprintable() else "\\x%02x" % ord(c) for c in str(text))


def store():
    if chosen_store:
        return chosen_store
    if os.environ.get("ATOMSAN_DB"):
        return os.environ["ATOMSAN_DB"]
    program = gdb.current_progspace().filename
    folders = ([os.path.dirname(program)] if program else []) + [os.getcwd()]
    for folder in folders:
        path = os.path.join(folder, ".atomsan", "findings.db")
        if os.path.exists(path):
            return path
    raise gdb.GdbError("There is no .atomsan/findings.db beside the program or here; 'atomsan store FILE' names one.")


def findings():
    command = [os.environ.get("ATOMSAN", "atomsan"), "list", "--all", "--json", "--db=" + store()]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise gdb.GdbError(f"{command[0]} cannot be run: {error.strerror}")
    if done.returncode:
        raise gdb.GdbError(done.stderr.strip())
    return json.loads(done.stdout)["findings"]


def the_finding(word):
    wanted = word if word.startswith("F-") else "F-" + word
    found = [f for f in findings() if f["id"].startswith(wanted)]
    if len(found) != 1:
        raise gdb.GdbError(f"{len(found) or 'No'} findings begin with {wanted}.")
    return found[0]


def title(finding):
    variables = ", ".join(finding["variables"])
    return printable(finding["title"] or f"{finding['kind']} on {variables}")


def here():
    """Function, file and line of the selected frame."""
    frame = gdb.selected_frame()
    place = frame.find_sal()
    file = os.path.basename(place.symtab.filename) if place.symtab else None
    return frame.name(), file, place.line


def is_line(place, file, line):
    return place["file"] and os.path.basename(place["file"]) == file and place["line"] == line


def show_steps(finding, marked):
    for number, access in enumerate(finding["accesses"], 1):
        mark = "=>" if number in marked else "  "
        place = f"{os.path.basename(access['file'])}:{access['line']}" if access["file"] else "?"
        locks = f", holding {', '.join(access['locks'])}" if access["locks"] else ""
        words = f"{access['thread'] or 'a thread'} {OPS[access['op']]} {access['variable'] or 'memory'} in {access['function']} ({place}){locks}"
        gdb.write(f" {mark} {number}. {printable(words)}\n")


class Atomsan(gdb.Command):
    """What atomsan found: why, list, break, store."""

    def __init__(self):
        super().__init__("atomsan", gdb.COMMAND_STATUS, prefix=True)


class Why(gdb.Command):
    """atomsan why [FINDING]: which findings the current line or function takes part in, and as what step."""

    def __init__(self):
        super().__init__("atomsan why", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        if argument:
            told = [(the_finding(argument), set())]
        else:
            told = list(self.here())
            if not told:
                gdb.write("No finding speaks of this line or this function.\n")
        for finding, marked in told:
            gdb.write(f"{finding['id']}  {title(finding)}  ({finding['state']}, {finding['review']})\n")
            for unit in finding["units"]:
                why = f": {unit['why']}" if unit["why"] else ""
                gdb.write(printable(f"    {unit['function']} should be atomic over {unit['set']}{why}") + "\n")
            show_steps(finding, marked)
            if finding["advice"]:
                gdb.write(f"    {printable(finding['advice'])}\n")

    def here(self):
        function, file, line = here()
        for finding in findings():
            marked = {n for n, a in enumerate(finding["accesses"], 1)
                      if any(is_line(place, file, line) for place in [a] + a["stack"])}
            names = {u["function"] for u in finding["units"]} | {a["function"] for a in finding["accesses"]}
            if marked or function in names:
                yield finding, marked


class List(gdb.Command):
    """atomsan list: all findings of the store."""

    def __init__(self):
        super().__init__("atomsan list", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        for finding in findings():
            gdb.write(f"{finding['id']}  {finding['state']:<10}  {title(finding)}\n")


class Break(gdb.Command):
    """atomsan break FINDING: a breakpoint at every step of a finding."""

    def __init__(self):
        super().__init__("atomsan break", gdb.COMMAND_BREAKPOINTS)

    def invoke(self, argument, from_tty):
        if not argument:
            raise gdb.GdbError("Which finding? 'atomsan list' shows them.")
        done = set()
        for access in the_finding(argument)["accesses"]:
            place = (access["file"], access["line"])
            if place in done or not all(place):
                continue
            done.add(place)
            gdb.Breakpoint(source=os.path.basename(place[0]), line=place[1])


class Store(gdb.Command):
    """atomsan store FILE: read findings from this store."""

    def __init__(self):
        super().__init__("atomsan store", gdb.COMMAND_STATUS, gdb.COMPLETE_FILENAME)

    def invoke(self, argument, from_tty):
        global chosen_store
        chosen_store = argument or None
        gdb.write(f"{printable(store())}\n")


for command in (Atomsan, Why, List, Break, Store):
    command()
