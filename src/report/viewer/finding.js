// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The page of one finding.
const card = (title, hint, ...children) => el("section", { class: "card" },
	el("h2", {}, title, hint && el("span", { class: "hint" }, hint)), children);

function copyButton(text) {
	const button = el("button", { class: "tool", onclick: async () => {
		try {
			await navigator.clipboard.writeText(text);
			button.textContent = "copied";
		} catch {
			getSelection().selectAllChildren(button.previousSibling);
			button.textContent = "selected";
		}
		setTimeout(() => { button.textContent = "copy"; }, 1500);
	} }, "copy");
	return button;
}

function unitCard(finding) {
	if (!finding.units.length)
		return null;
	const race = finding.kind === "race";
	return card(race ? "Who accesses it" : "What should have been atomic", race ? "and nothing puts them in order" : "and why we think so",
		el("div", { class: "body units" }, finding.units.map((unit, u) => el("div", { class: "unit", style: `--c:${unitColor(u)}` },
			el("b", {}, unit.function ?? "?"), " ", el("span", { class: "quiet mono" }, fullPlace(unit)),
			el("div", {}, [unit.thread && `in ${unit.thread}`, !race && unit.set && `a unit for ${unit.set}`].filter(Boolean).join(", ")),
			!race && unit.why && el("div", {}, unit.why)))));
}

function edgeCard(finding) {
	if (!finding.edges.length)
		return null;
	return card("Why no order of the units explains it", "the conflict graph", el("div", { class: "body" },
		el("div", { class: "graph" }, drawGraph(finding)),
		el("table", {}, el("tbody", {}, finding.edges.map(edge => {
			const source = edge.source === null ? null : finding.accesses[edge.source];
			const target = edge.target === null ? null : finding.accesses[edge.target];
			return el("tr", {}, el("td", { style: "white-space:nowrap" }, `unit ${edge.from + 1} before unit ${edge.to + 1}`),
				el("td", { class: "quiet" }, source && target
					? `step ${edge.source + 1} ${OPS[source.op]} ${source.variable ?? "it"} before step ${edge.target + 1} ${OPS[target.op]} it`
					: "one after the other in the same thread"));
		})))));
}

function stackCard(finding) {
	const stacks = new Map();
	finding.accesses.forEach((access, step) => {
		const key = JSON.stringify(access.stack);
		// One frame says no more than the step itself.
		if (access.stack.length > 1)
			stacks.set(key, [...(stacks.get(key) ?? []), step]);
	});
	if (!stacks.size)
		return null;
	return card("Stacks", "innermost first", el("div", { class: "body" }, [...stacks.values()].map((steps, i) =>
		el("details", { class: "stack", open: i < 4 },
			el("summary", {}, (steps.length > 1 ? "steps " : "step ") + steps.map(s => s + 1).join(", ")),
			el("ol", { start: 0 }, finding.accesses[steps[0]].stack.map(frame =>
				el("li", {}, frame.function ?? "?", " ", el("span", { class: "quiet" }, fullPlace(frame)))))))));
}

function replayCard(finding) {
	const trials = data.trials.filter(trial => trial.finding === finding.id);
	const body = [];
	if (finding.replay)
		body.push(el("div", { class: "command" }, el("code", {}, finding.replay), copyButton(finding.replay)));
	else
		body.push(el("div", { class: "quiet" }, "There is no schedule for it yet. ", el("code", {}, "atomsan explore"),
			" looks for one."));
	if (trials.length)
		body.push(el("div", { style: "height:10px" }), trialTable(trials, false));
	return card("How to see it again", null, el("div", { class: "body" }, body));
}

function lifeCard(finding) {
	if (!finding.history?.length)
		return null;
	return card("Its life", `found in ${plural(finding.runs, "run")}, ${plural(finding.seen, "time")} in all`,
		el("div", { class: "body" }, el("ol", { class: "life" }, finding.history.map(event => el("li", {},
			badge(event.to), el("time", {}, when(event.time)),
			event.reason && el("div", { class: "quiet" }, event.what === "state" ? "by atomsan " + event.reason : event.reason))))));
}

function interleavingCard(finding, lanes, select) {
	const count = finding.accesses.length;
	const output = el("output", {}, "");
	const titles = { race: "The two accesses", deadlock: "How everything comes to a halt" };
	const ops = [["R", "reads"], ["W", "writes"], ["U", "updates"], ["B", "waits for ever"]].filter(([op]) => finding.accesses.some(a => a.op === op));
	const words = [ops.map(([op, word]) => `${op} ${word}`).join(", "), finding.accesses.some(isThin) && "small: locks taken and given up"];
	const links = { race: "at the same time", deadlock: "who waits, and who has it" };
	const node = card(titles[finding.kind] ?? "The interleaving", "← → step through it",
		el("div", { class: "stepper" },
			el("button", { class: "tool", "data-go": "back", "aria-label": "previous step", onclick: () => select(Math.max(0, app.step - 1)) }, "←"),
			output,
			el("button", { class: "tool", "data-go": "on", "aria-label": "next step", onclick: () => select(Math.min(count - 1, app.step + 1)) }, "→")),
		el("div", { class: "lanes", tabindex: 0, role: "region", "aria-label": "interleaving" }, lanes.root),
		el("div", { class: "legend" },
			finding.units.map((unit, u) => el("span", {}, el("i", { style: `background:${unitColor(u)}` }), `unit ${u + 1}: ${cut(unit.function ?? "?", 40)}`)),
			lanes.links.length ? el("span", {}, el("i", { style: "background:var(--red);height:3px;vertical-align:3px" }), links[finding.kind] ?? "conflict") : null,
			el("span", {}, words.filter(Boolean).join("; "))));
	return { node, output };
}

// Side by side, unless one of them has nothing to say.
function columns(...cards) {
	const filled = cards.map(column => column.filter(Boolean)).filter(column => column.length);
	return el("div", { class: filled.length > 1 ? "two" : "column" }, filled.map(column => el("div", { class: "column" }, column)));
}

function findingPage(finding) {
	const select = step => app.select(step);
	const lanes = drawSwimLanes(finding, select);
	const sources = drawSources(finding, select);
	const interleaving = finding.accesses.length ? interleavingCard(finding, lanes, select) : null;
	const page = el("article", { class: "page", "data-finding": finding.id },
		el("header", { class: "head" },
			el("button", { class: "link back", onclick: () => app.open(null) }, "← all findings"),
			el("h1", { tabindex: -1 }, finding.name),
			el("div", { class: "facts" }, badge(finding.state), finding.review && finding.review !== "new" && badge(finding.review),
				el("span", {}, KINDS[finding.kind]), finding.pattern && el("span", {}, "pattern ", el("code", {}, finding.pattern)),
				el("span", {}, `confidence ${finding.confidence.toFixed(2)}`), el("span", {}, `seen ${plural(finding.seen, "time")}`),
				finding.verb && el("span", {}, `by ${finding.verb}`), el("code", { class: "quiet" }, finding.id)),
			finding.variables.length ? el("div", { class: "quiet" }, "on ", finding.variables.map((v, i) => [i ? ", " : "", el("code", {}, v)])) : null,
			finding.reason && finding.review !== "new" ? el("div", { class: "quiet" }, `${finding.review}: ${finding.reason}`) : null),
		finding.advice && el("div", { class: "advice" }, finding.advice),
		interleaving?.node,
		sources.blocks.length ? card("The sources", "units in colour, steps at their lines", sources.blocks) : null,
		columns([unitCard(finding), stackCard(finding)], [edgeCard(finding), replayCard(finding), lifeCard(finding)]));
	let marked = null;
	return { page, show(step, scroll) {
		if (!interleaving)
			return;
		const node = lanes.show(step);
		interleaving.output.textContent = `step ${step + 1} of ${finding.accesses.length}`;
		marked?.classList.remove("on");
		marked = sources.marks.get(step) ?? null;
		marked?.classList.add("on");
		if (scroll)
			node.scrollIntoView({ block: "nearest", inline: "nearest" });
	} };
}
