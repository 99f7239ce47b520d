# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the trace event format as its documentation describes it, and as importers do: strictly, and into what they
would show. Nothing here knows who writes it.

  load(text)   processes by pid: {"name", "threads": {tid: name}, "slices": [...], "flows": [(from, to)]}, where a slice
               has its event's name, cat, args, ts, dur, tid, its parent (or None) and its depth
"""
import json

METADATA = {"process_name": "name", "thread_name": "name", "process_labels": "labels",
            "process_sort_index": "sort_index", "thread_sort_index": "sort_index"}
# Beside ph and name, what an event of each phase must have, and may.
PHASES = {
    "X": ({"ts", "dur", "pid", "tid"}, {"cat", "args", "tts", "tdur", "cname"}),
    "s": ({"ts", "pid", "tid", "id", "cat"}, {"args", "bp"}),
    "t": ({"ts", "pid", "tid", "id", "cat"}, {"args", "bp"}),
    "f": ({"ts", "pid", "tid", "id", "cat"}, {"args", "bp"}),
    "M": ({"pid", "args"}, {"tid", "ts", "cat"}),
}


class Wrong(Exception):
    """What is wrong, in a sentence."""


def need(condition, sentence, event):
    if not condition:
        raise Wrong(f"{sentence}: {json.dumps(event)[:300]}")


def once(pairs):
    keys = [key for key, _ in pairs]
    need(len(keys) == len(set(keys)), "a key stands twice", dict(pairs))
    return dict(pairs)


def never(constant):
    raise Wrong(f"{constant} is no JSON")


def whole(value):
    return isinstance(value, int) and not isinstance(value, bool)


def check_event(event):
    need(isinstance(event, dict), "an event is an object", event)
    phase, name = event.get("ph"), event.get("name")
    need(isinstance(phase, str) and phase in PHASES, "its phase is none that is known", event)
    need(isinstance(name, str) and name, "it has no name", event)
    must, may = PHASES[phase]
    have = set(event) - {"ph", "name"}
    need(must <= have, f"{must - have} is missing", event)
    need(have <= must | may, f"{have - must - may} means nothing here", event)
    need(whole(event["pid"]) and event["pid"] > 0, "its process is no number", event)
    if "tid" in event:
        need(whole(event["tid"]) and event["tid"] > 0, "its thread is no number", event)
    for field in ("ts", "dur"):
        if field in event:
            need(whole(event[field]) and event[field] >= 0, f"{field} is no time", event)
    if "cat" in event:
        need(isinstance(event["cat"], str) and all(event["cat"].split(",")), "its categories are none", event)
    if "args" in event:
        need(isinstance(event["args"], dict), "arguments are an object", event)
    if "id" in event:
        need(whole(event["id"]) or isinstance(event["id"], str), "an id is a number or a text", event)
    if "bp" in event:
        need(phase == "f" and event["bp"] == "e", "only the end of a flow says where it is bound", event)
    if phase == "M":
        need(name in METADATA, "such metadata is not known", event)
        need(set(event["args"]) == {METADATA[name]}, f"it must say its {METADATA[name]}", event)
        value = event["args"][METADATA[name]]
        need(whole(value) if METADATA[name] == "sort_index" else isinstance(value, str), "it says nothing", event)
        need("tid" in event or not name.startswith("thread_"), "of which thread?", event)


def name_tracks(events):
    processes = {}
    for event in events:
        if event["ph"] != "M":
            continue
        process = processes.setdefault(event["pid"], {"name": None, "threads": {}, "slices": [], "flows": []})
        if event["name"] == "process_name":
            need(process["name"] is None, "the process has a name already", event)
            process["name"] = event["args"]["name"]
        elif event["name"] == "thread_name":
            need(event["tid"] not in process["threads"], "the thread has a name already", event)
            process["threads"][event["tid"]] = event["args"]["name"]
    return processes


def close(stack, time):
    while stack and stack[-1]["ts"] + stack[-1]["dur"] <= time:
        stack.pop()


def load(text):
    root = json.loads(text, object_pairs_hook=once, parse_constant=never)
    need(isinstance(root, dict) and isinstance(root.get("traceEvents"), list), "an object with events", root)
    need(root.get("displayTimeUnit", "ms") in ("ms", "ns"), "the unit is ms or ns", root.get("displayTimeUnit"))
    events = root["traceEvents"]
    for event in events:
        check_event(event)
    processes = name_tracks(events)
    stacks, flows = {}, {}
    # Importers sort by time; what begins at the same time stays in the order of the file.
    for event in sorted((e for e in events if e["ph"] != "M"), key=lambda e: e["ts"]):
        process = processes.get(event["pid"])
        need(process and process["name"] is not None, "its process has no name", event)
        need(event["tid"] in process["threads"], "its thread has no name", event)
        stack = stacks.setdefault((event["pid"], event["tid"]), [])
        close(stack, event["ts"])
        if event["ph"] == "X":
            end = event["ts"] + event["dur"]
            need(event["dur"] > 0, "nobody sees what takes no time", event)
            need(not stack or end <= stack[-1]["ts"] + stack[-1]["dur"], "it ends behind what it lies in", event)
            slice_ = dict(event, parent=stack[-1] if stack else None, depth=len(stack))
            stack.append(slice_)
            process["slices"].append(slice_)
            continue
        # A flow is bound to the innermost slice around its moment, its end only if it says so.
        need(stack, "an arrow in the air", event)
        need(event["ph"] != "f" or event.get("bp") == "e", "it would be bound to the next slice", event)
        key = (event["cat"], event["name"], event["id"])
        if event["ph"] == "s":
            need(key not in flows, "the flow has begun already", event)
            flows[key] = stack[-1]
        else:
            need(key in flows, "the flow has not begun", event)
            process["flows"].append((flows[key], stack[-1]))
            if event["ph"] == "f":
                flows[key] = None
    need(not [key for key, begun in flows.items() if begun], "flows without an end", str(flows)[:200])
    return processes
