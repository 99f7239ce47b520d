// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The interleaving as swim-lanes: time runs down, one lane per thread. Bands are units, brackets are
// locks, arrows are the conflicts, and a dashed line is a value that has gone stale.
const TOP = 40, LEFT = 40, DOT = 44, NARROWEST = 280, WIDEST = 460;

const isLock = access => access.op === "L" || access.op === "A";

function stepLines(finding, step) {
	const access = finding.accesses[step];
	if (isLock(access) && !access.note)
		return [["lock-step", [`${OPS[access.op]} ${access.variable ?? "a lock"}`, [access.function, placeText(access)].filter(Boolean).join(" ")]
			.filter(Boolean).join(" · ")]];
	const stale = staleAt(finding, step);
	return [
		["what", `${OPS[access.op]} ${access.variable ?? (isLock(access) ? "a lock" : "memory")}` +
			(access.value ? `: ${access.value}` : "")],
		["at", [access.function, placeText(access)].filter(Boolean).join("  ")],
		access.note && ["says", access.note],
		stale >= 0 && ["stale", `stale from step ${stale + 1} on` + (finding.accesses[stale].op === "W" && finding.accesses[stale].value ?
			`: ${finding.accesses[stale].value} there` : "")],
	].filter(line => line && line[1]);
}

// How long a lock is known to be held: from its L to its A where the steps have them, else at each step alone.
function lockSpans(finding, lanes) {
	const spans = [], open = new Map();
	const exact = finding.accesses.some(a => a.op === "L");
	finding.accesses.forEach((access, step) => {
		const key = lanes.of[step] + " " + access.variable;
		if (access.op === "L") {
			const span = { lane: lanes.of[step], name: access.variable, from: step, to: finding.accesses.length - 1 };
			open.set(key, span);
			spans.push(span);
		} else if (access.op === "A") {
			if (open.has(key))
				open.get(key).to = step;
			open.delete(key);
		} else if (!exact) {
			for (const name of access.locks)
				spans.push({ lane: lanes.of[step], name, from: step, to: step });
		}
	});
	return spans;
}

function drawSwimLanes(finding, select) {
	const lanes = lanesOf(finding);
	const lines = finding.accesses.map((_, i) => stepLines(finding, i));
	const y = [];
	const spans = lockSpans(finding, lanes), locked = new Set(spans.map(span => span.from));
	// What is done with locks is one thin line each, without another word on what is held then.
	const thin = finding.accesses.map((access, i) => lines[i][0][0] === "lock-step");
	const heights = lines.map((text, i) => thin[i] ? 32 : Math.max(58, 26 + 16 * (text.length + locked.has(i))));
	let bottom = TOP + 14;
	heights.forEach((tall, i) => {
		y.push(bottom + (thin[i] ? 13 : 20));
		bottom += tall;
	});
	const room = Math.min(1180, app.main.clientWidth - 60) - LEFT - 30;
	const wide = Math.max(room < 500 ? 200 : NARROWEST, Math.min(WIDEST, Math.floor(room / Math.max(1, lanes.names.length))));
	const letters = Math.floor((wide - 50) / 7.4);
	const x = lane => LEFT + lane * wide + DOT;
	const width = LEFT + lanes.names.length * wide + 10, height = bottom + 10;
	const root = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group",
		"aria-label": `The interleaving: ${plural(lines.length, "step")} of ${plural(lanes.names.length, "thread")}` });

	root.append(svg("defs", {}, svg("marker", { id: "head", viewBox: "0 0 10 10", refX: 8, refY: 5, markerWidth: 9,
		markerHeight: 9, orient: "auto-start-reverse", markerUnits: "userSpaceOnUse" },
		svg("path", { class: "edge-head", d: "M0 0 10 5 0 10z" }))));
	lanes.names.forEach((name, lane) => {
		root.append(svg("text", { class: "lane-name", x: x(lane) - 12, y: 24 }, cut(name, letters), svg("title", {}, name)),
			svg("line", { class: "lane-line", x1: x(lane), x2: x(lane), y1: TOP - 6, y2: height - 6 }));
	});
	drawBands(root, finding, lanes, x, y, lines);
	finding.accesses.forEach((access, step) => {
		const stale = staleAt(finding, step);
		if (stale < 0)
			return;
		const use = finding.accesses.findIndex((a, i) => i > stale && a.unit === access.unit && !isLock(a));
		root.append(svg("line", { class: "stale-line", x1: x(lanes.of[step]), x2: x(lanes.of[step]), y1: y[stale],
			y2: y[use] - 10 }));
	});
	// Edges lie under the steps, so that they never take a click away.
	const edges = finding.edges.map((edge, index) => drawEdge(root, edge, index, lanes, x, y));
	drawLocks(root, spans, x, y, lines, letters, thin);
	const steps = finding.accesses.map((access, step) =>
		drawStep(root, finding, step, x(lanes.of[step]), y[step], lines[step], { width, letters, tall: heights[step], thin: thin[step] }, select));
	return {
		root,
		show(step) {
			steps.forEach((s, i) => {
				s.classList.toggle("on", i === step);
				s.setAttribute("aria-pressed", i === step);
			});
			edges.forEach((e, i) => e && e.classList.toggle("on",
				finding.edges[i].source === step || finding.edges[i].target === step));
			return steps[step];
		},
	};
}

function drawBands(root, finding, lanes, x, y, lines) {
	const ends = step => lines[step][0][0] === "lock-step" ? 11 : 19;
	finding.units.forEach((unit, u) => {
		const steps = finding.accesses.map((a, i) => a.unit === u ? i : -1).filter(i => i >= 0);
		for (const lane of new Set(steps.map(i => lanes.of[i]))) {
			const mine = steps.filter(i => lanes.of[i] === lane);
			const from = mine[0], to = mine[mine.length - 1];
			root.append(svg("rect", { x: x(lane) - 15, y: y[from] - ends(from), width: 30, rx: 15, fill: unitColor(u),
				opacity: .2, height: y[to] - y[from] + ends(from) + ends(to) },
				svg("title", {}, `unit ${u + 1}: ${unit.function ?? "?"}`)));
		}
	});
}

function drawLocks(root, spans, x, y, lines, letters, thin) {
	const used = new Map();
	for (const span of spans) {
		// Locks that are held at the same step stand beside each other.
		const key = span.lane + ":" + span.from;
		const depth = used.get(key) ?? 0;
		used.set(key, depth + 1);
		if (depth > 2)
			continue;
		const left = x(span.lane) - 20 - 6 * depth;
		const top = y[span.from] - (thin[span.from] ? 0 : 14), end = y[span.to] + (thin[span.to] ? 0 : 14);
		root.append(svg("path", { class: "lock", d: `M${left + 5} ${top}H${left}V${end}H${left + 5}` },
			svg("title", {}, `holds ${span.name}`)));
	}
	const named = new Map();
	for (const span of spans)
		named.set(span.lane + ":" + span.from, [...(named.get(span.lane + ":" + span.from) ?? []), span.name]);
	for (const [key, names] of named) {
		const [lane, step] = key.split(":").map(Number);
		if (thin[step])
			continue;
		const text = "holds " + names.join(", ");
		root.append(svg("text", { class: "lock-name", x: x(lane) + 24, y: y[step] + 4 + 16 * lines[step].length },
			cut(text, letters), svg("title", {}, text)));
	}
}

// Words stand to the right of a step, so an arrow to the right first goes down and then along the target's row, and one
// to the left first along its own row and then down: neither crosses any. What comes
// in is above the middle of a step, and what goes out below.
function edgePath(from, to, shift) {
	const side = Math.sign(to.x - from.x), bend = 14;
	if (!side || to.y - from.y < 2 * bend + 4) {
		const far = Math.max(40, Math.abs(to.y - from.y) / 2);
		return `M${from.x - 9} ${from.y + 7}C${from.x - far} ${from.y} ${to.x - far} ${to.y} ${to.x - 13} ${to.y - 4}`;
	}
	if (side > 0)
		return `M${from.x + shift} ${from.y + 12}V${to.y - bend - 6}q0 ${bend} ${bend} ${bend}H${to.x - 17}`;
	return `M${from.x - 10} ${from.y + 7}H${to.x + shift + bend}q${-bend} 0 ${-bend} ${bend}V${to.y - 17}`;
}

function drawEdge(root, edge, index, lanes, x, y) {
	if (edge.source === null || edge.target === null)
		return null;
	const at = step => ({ x: x(lanes.of[step]), y: y[step] });
	const line = svg("path", { class: "edge", d: edgePath(at(edge.source), at(edge.target), 4 + 4 * (index % 3)),
		"marker-end": "url(#head)" });
	root.append(line);
	return line;
}

function drawStep(root, finding, step, x, y, lines, { width, letters, tall, thin }, select) {
	const access = finding.accesses[step];
	const group = svg("g", { class: "step", tabindex: 0, role: "button", "data-step": step,
		"aria-label": `Step ${step + 1}: ${access.thread ?? ""} ${lines.map(l => l[1]).join(", ")}`,
		onclick: () => select(step),
		onkeydown: event => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); select(step); } } },
		svg("rect", { class: "hit", x: 0, y: y - (thin ? 14 : 23), width, height: tall - (thin ? 4 : 2), rx: 8 }),
		svg("text", { class: "count", x: 10, y: y + 4 }, step + 1),
		svg("circle", { class: "ring", cx: x, cy: y, r: thin ? 7 : 15 }),
		svg("circle", { class: "dot", cx: x, cy: y, r: thin ? 5 : 12, fill: unitColor(access.unit) }),
		thin ? null : svg("text", { class: "op", x, y: y + 4 }, access.op));
	lines.forEach(([style, text], i) => group.append(
		svg("text", { class: style, x: x + 24, y: y + 4 + 16 * i }, cut(text, letters),
			svg("title", {}, text))));
	root.append(group);
	return group;
}
