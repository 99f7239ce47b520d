#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""embed.py HEADER PAGE STYLE SCRIPT...: the viewer as C arrays, up to the data and from there on.

The page may run this one script and no other: its policy names the script's hash, so that nothing that
slips in from a program's names or sources could be run.
"""
import base64
import hashlib
import pathlib
import sys

header, page, style, *scripts = map(pathlib.Path, sys.argv[1:])
script = '"use strict";\n(() => {\n' + "".join(s.read_text() for s in scripts) + "})();\n"
assert "</script" not in script.lower() and "<!--" not in script
digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
text = page.read_text().replace("{{hash}}", "sha256-" + digest).replace("{{style}}", style.read_text())
head, tail = text.split("{{data}}")
tail = tail.replace("{{script}}", script)


def array(name, content):
    numbers = [str(byte) for byte in content.encode()]
    lines = [",".join(numbers[i : i + 40]) for i in range(0, len(numbers), 40)]
    return f"static const unsigned char {name}[] = {{\n" + ",\n".join(lines) + "};\n"


header.write_text(array("viewer_head", head) + array("viewer_tail", tail))
