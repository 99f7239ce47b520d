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

import jsonschema

sys.dont_write_bytecode = True  # what is imported lies among the sources
import trace_event

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


# Ours is strict about what we write; SARIF's own, where scripts/install-browser has put it, about everything.
HERE = pathlib.Path(__file__).resolve().parent
OFFICIAL = HERE.parents[1] / "browser/node_modules/@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json"
validators = [jsonschema.Draft7Validator(json.loads((HERE / "sarif.schema.json").read_text()))]
if OFFICIAL.exists():
    validators.append(jsonschema.Draft4Validator(json.loads(OFFICIAL.read_text())))
    check(list(validators[1].iter_errors({"version": "2.1.0", "runs": [{}]})), "the schema refuses a run without a tool")
for what in ("bank", "all", "hostile", "3"):
    log = json.loads(check_sarif(what))
    problems = [f"{what}.sarif: {e.json_path}: {e.message[:200]}" for v in validators for e in v.iter_errors(log)]
    check(not problems, "\n".join(problems))
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

OPS = {"R": "reads", "W": "writes", "U": "updates", "L": "locks", "A": "unlocks", "B": "waits for"}


def lane_of(finding, access):
    unit = finding["units"][access["unit"]] if access["unit"] is not None else None
    return access["thread"] or (unit and (unit["thread"] or f"unit {access['unit'] + 1}")) or "some thread"


def check_process(finding, process):
    """What an importer makes of a finding's process is the finding's interleaving, no more and no less."""
    where = f"{finding['id']} for Perfetto"
    check(process["name"].startswith(finding["id"] + " "), f"{where}: the process is {process['name']}")
    steps = sorted((s for s in process["slices"] if s["cat"] == "step"), key=lambda s: s["ts"])
    check(len(steps) == len(finding["accesses"]), f"{where}: every step is a slice")
    for number, (step, access) in enumerate(zip(steps, finding["accesses"]), 1):
        args = step["args"]
        check(step["name"] == f"{OPS[access['op']]} {access['variable'] or 'memory'}", f"{where}: {step['name']}")
        check(process["threads"][step["tid"]] == lane_of(finding, access), f"{where}: step {number} is in another thread")
        check((args["step"], args["line"], args["function"], args["locks"], args["note"]) ==
              (number, access["line"], access["function"], access["locks"], access["note"]), f"{where}: {args}")
        check(number == 1 or steps[number - 2]["ts"] + steps[number - 2]["dur"] <= step["ts"], f"{where}: steps overlap")
        around, unit = step["parent"], access["unit"]
        while around and not around["name"].startswith(f"unit {(unit or 0) + 1}: "):
            around = around["parent"]
        check(unit is None or around or any(a["unit"] not in (None, unit) and lane_of(finding, a) == lane_of(finding, access)
                                            for a in finding["accesses"]), f"{where}: step {number} is not inside its unit")
    arrows = sorted((a["args"]["step"] - 1, b["args"]["step"] - 1) for a, b in process["flows"])
    check(arrows == sorted((e["source"], e["target"]) for e in finding["edges"] if e["source"] is not None),
          f"{where}: the arrows {arrows} are not its conflicts")


for what in ("bank", "all", "hostile", "40"):
    text, document = report("perfetto", what)
    text.decode("ascii")
    processes = trace_event.load(text)
    check(sorted(processes) == list(range(1, len(document["findings"]) + 1)), f"{what}: a process for each finding")
    for number, finding in enumerate(document["findings"], 1):
        check_process(finding, processes[number])

# The reader does find what is wrong: each of these would be shown otherwise than it is, or not at all.
events = json.loads(report("perfetto", "bank")[0])["traceEvents"]
step = next(i for i, e in enumerate(events) if e.get("cat") == "step")
arrow = next(i for i, e in enumerate(events) if e["ph"] == "f")
for at, change in ((step, {"dur": 10**9}), (step, {"ts": -1}), (step, {"ts": 1.5}), (step, {"tid": 99}), (step, {"ph": "B"}), (step, {"colour": 1}),
                   (step, {"dur": 0}), (step, {"pid": "1"}), (arrow, {"bp": "x"}), (arrow, {"id": 10**6}), (arrow, {"ts": 10**9}),
                   (arrow, {"cat": "other"}), (0, {"args": {}}), (0, {"name": "process"}), (0, {"pid": 77})):
    broken = [dict(e, **change) if i == at else e for i, e in enumerate(events)]
    try:
        trace_event.load(json.dumps({"traceEvents": broken}))
    except trace_event.Wrong:
        continue
    sys.exit(f"{change} was not noticed")


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
