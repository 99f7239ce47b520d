#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""formats.py ATOMSAN SAMPLES: what other programs read is as their formats want it, whatever the names in it."""
import gzip
import html.parser
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.parse

atomsan, samples = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:])


def check(condition, what):
    if not condition:
        sys.exit(what)


def report(form, what):
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        file.write(subprocess.run([samples, "json", what], check=True, capture_output=True).stdout)
        file.flush()
        out = subprocess.run([atomsan, "report", f"--format={form}", file.name], check=True, capture_output=True).stdout
        return out, json.load(open(file.name))


LEVELS = {"suspected": "note", "predicted": "warning", "observed": "error", "reproduced": "error", "healed": "note"}


def check_message(message, where):
    text = message["text"]
    check(text and not re.search(r"(?<!\\)[\[\]]", text) and not re.search(r"(?<!\{)(?:\{\{)*\{(?!\{)", text),
          f"{where}: brackets or braces that mean something: {text}")


def check_location(location, where):
    physical = location["physicalLocation"]
    uri = physical["artifactLocation"]["uri"]
    check(uri and re.fullmatch(r"(file://)?[A-Za-z0-9%._~/-]+", uri), f"{where}: not a URI: {uri}")
    check(uri.startswith("file:///") or physical["artifactLocation"]["uriBaseId"] == "%SRCROOT%", f"{where}: {uri}")
    check(physical["region"]["startLine"] >= 1, f"{where}: lines count from 1")
    if "message" in location:
        check_message(location["message"], where)


def check_sarif(what):
    text, document = report("sarif", what)
    text.decode("ascii")
    log = json.loads(text)
    check(log["version"] == "2.1.0" and len(log["runs"]) == 1, "one run of SARIF 2.1.0")
    run = log["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    for rule in rules:
        check(rule["help"]["text"] and rule["help"]["markdown"] and rule["shortDescription"]["text"], "rules have help")
        check(len(rule["properties"]["tags"]) <= 10, "tags of a rule")
    findings = {f["id"]: f for f in document["findings"]}
    check(len(run["results"]) == min(5000, len(findings)), f"{what}: every finding is a result")
    levels = [["error", "warning", "note"].index(r["level"]) for r in run["results"]]
    check(levels == sorted(levels), f"{what}: the most severe come first")
    check([n["message"]["text"] for n in run["invocations"][0]["toolExecutionNotifications"]][: len(document["blind_spots"])] ==
          [s.replace("{", "{{").replace("}", "}}") for s in document["blind_spots"]] or what == "hostile", "blind spots are told")
    for result in run["results"]:
        finding = findings[result["partialFingerprints"]["atomsanFinding/v1"]]
        check(result["fingerprints"]["atomsan/v1"] == finding["id"], "fingerprints")
        check(rules[result["ruleIndex"]]["id"] == result["ruleId"] == finding["kind"], "the rule is the kind")
        check(result["level"] == LEVELS[finding["state"]], "the level is the state's")
        check_message(result["message"], what)
        for location in result["locations"] + result["relatedLocations"]:
            check_location(location, what)
        check(len(result["locations"]) == 1, "one location")
        merged, threads = result["codeFlows"]
        check(len(merged["threadFlows"]) == 1, "the first flow is merged")
        steps = merged["threadFlows"][0]["locations"]
        check([s["executionOrder"] for s in steps] == list(range(1, len(finding["accesses"]) + 1)), "steps are numbered")
        for number, step in enumerate(steps, 1):
            check_location(step["location"], what)
            check(step["location"]["message"]["text"].startswith(f"{number}. "), "messages begin with the number")
            for frame in step.get("stack", {}).get("frames", []):
                check_location(frame["location"], what)
        order = sorted(s["executionOrder"] for t in threads["threadFlows"] for s in t["locations"])
        check(order == [s["executionOrder"] for s in steps], "the second has all steps, by thread")
        names = [t["id"] for t in threads["threadFlows"]]
        check(len(names) == len(set(names)) and all(t["locations"] for t in threads["threadFlows"]), "one flow per thread")
        check(sum(len(t["locations"]) for f in result["codeFlows"] for t in f["threadFlows"]) <= 1000, "steps that GitHub takes")
    return text


for what in ("bank", "all", "hostile"):
    check_sarif(what)
check(len(gzip.compress(check_sarif("5000"), 6)) < 10_000_000, "GitHub takes 10 MB")

# Each annotation is one line that begins as it should, and no more than ten of a level.
for what in ("all", "hostile", "5000"):
    text, document = report("github", what)
    lines = text.decode().split("\n")
    check(lines.pop() == "", "the last line ends")
    for line in lines:
        check(re.match(r"::(error|warning|notice) (file=[^,:]+,line=\d+,(col=\d+,)?)?title=[^,:]+::", line), f"not an annotation: {line}")
        check(not re.search(r"[\x00-\x1f\x7f]", line), "control characters")
    check(max(sum(line.startswith(f"::{level} ") for line in lines) for level in ("error", "warning", "notice")) <= 10, "ten of a level")
    check(len(lines) == len(document["findings"]) or "more findings" in lines[-1], "what is left out is counted")

# Slices of a thread nest, and every arrow has both ends in a slice.
for what in ("bank", "all", "hostile"):
    text, document = report("perfetto", what)
    events = json.loads(text)["traceEvents"]
    threads = {}
    for event in events:
        if event["ph"] == "X":
            threads.setdefault((event["pid"], event["tid"]), []).append((event["ts"], -event["dur"]))
    for slices in threads.values():
        stack = []
        for start, dur in sorted(slices):
            while stack and stack[-1] <= start:
                stack.pop()
            check(not stack or start - dur <= stack[-1], f"{what}: slices overlap")
            stack.append(start - dur)
    steps = [e for e in events if e.get("cat") == "step"]
    check(len(steps) == sum(len(f["accesses"]) for f in document["findings"]), "every step is a slice")
    ends = {}
    for event in events:
        if event["ph"] in "sf":
            check(any((s["pid"], s["tid"]) == (event["pid"], event["tid"]) and s["ts"] <= event["ts"] <= s["ts"] + s["dur"] for s in steps),
                  "an arrow in the air")
            ends.setdefault(event["id"], []).append(event["ph"])
    check(all(e == ["s", "f"] for e in ends.values()), "arrows have two ends")
    # What the trace event format asks of each kind of event.
    for event in events:
        where = f"{what}: {event}"
        check(event["ph"] in ("X", "s", "f", "M"), f"{where}: its kind is none of ours")
        check(isinstance(event["name"], str) and event["name"], f"{where}: no name")
        check(isinstance(event["pid"], int), f"{where}: not of a process")
        check(event["name"].startswith("process_") or isinstance(event["tid"], int), f"{where}: not of a thread")
        if event["ph"] == "M":
            check(event["name"] in ("process_name", "process_sort_index", "thread_name", "thread_sort_index")
                  and len(event["args"]) == 1, f"{where}: not known metadata")
            continue
        check(isinstance(event["ts"], int) and event["ts"] >= 0, f"{where}: no time")
        check(event["ph"] != "X" or event["dur"] > 0, f"{where}: takes no time")
        check(event["ph"] != "f" or event["bp"] == "e", f"{where}: an arrow must end at the slice around it")


class Page(html.parser.HTMLParser):
    """The elements of a page, and what would be loaded."""

    def __init__(self):
        super().__init__()
        self.scripts, self.tags, self.links = [], [], []
        self.inside = False

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.inside = tag == "script"
        if self.inside:
            self.scripts.append("")
        for name, value in attributes:
            if name in ("src", "href") and not value.startswith("data:"):
                self.links.append(value)
            if name.startswith("on"):
                self.links.append(f"{name}={value}")

    def handle_data(self, text):
        if self.inside:
            self.scripts[-1] += text

    def handle_endtag(self, tag):
        self.inside = False


for what in ("all", "hostile"):
    text, document = report("html", what)
    page = Page()
    page.feed(text.decode())
    check(page.tags.count("script") == 2 and len(page.scripts) == 2 and "img" not in page.tags, f"{what}: {page.tags}")
    check(not page.links, f"{what}: the page would load {page.links}")
    inside = json.loads(page.scripts[0])
    check([f["id"] for f in inside["findings"]] == [f["id"] for f in document["findings"]], "all findings are in the page")
    check(inside["findings"][0]["accesses"] == document["findings"][0]["accesses"], "as they are")
    check("script-src 'sha256-" in text.decode(), "a policy that names the script")
