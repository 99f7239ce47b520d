// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The interleaving as swim-lanes: time runs down, one lane per thread. Bands are units, brackets are
// locks, arrows are the conflicts, and a dashed line is a value that has gone stale. Words stand beside each step;
// where there is no room for that, lanes are narrow and all words stand to the right of them.
const TOP = 40, LEFT = 40, DOT = 44, RAIL = 50, NARROWEST = 280, WIDEST = 460, LINE = 16;
// The fonts of the style sheet, to know how wide a text will be.
const FONTS = { what: "600 13px system-ui, sans-serif", at: "11.5px MONO", says: "11.5px system-ui, sans-serif",
	stale: "600 11.5px system-ui, sans-serif", "lock-step": "11.5px system-ui, sans-serif", "lock-name": "10.5px MONO",
	"lane-name": "650 13px system-ui, sans-serif", "lane-name narrow": "650 11px system-ui, sans-serif" };
const measure = document.createElement("canvas").getContext("2d");

function widthOf(style, text) {
	measure.font = FONTS[style].replace("MONO", getComputedStyle(document.documentElement).getPropertyValue("--mono"));
	return measure.measureText(text).width;
}

const isLock = access => "LAB".includes(access.op);
const isThin = access => isLock(access) && !access.note;

function stepLines(finding, step, thread) {
	const access = finding.accesses[step], who = thread ? thread + " " : "";
	const what = who + `${OPS[access.op]} ${access.variable ?? (isLock(access) ? "a lock" : "memory")}`;
	if (isThin(access))
		return [["lock-step", [what, [access.function, placeText(access)].filter(Boolean).join(" ")].filter(Boolean).join(" · ")]];
	const stale = staleAt(finding, step);
	return [
		["what", what + (access.value ? `: ${access.value}` : "")],
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

// Which steps are linked: conflicts; the two accesses of a race, which have no order; who waits, and who has the lock.
function linksOf(finding, lanes) {
	const links = finding.edges.filter(edge => edge.source !== null && edge.target !== null)
		.map(({ source, target }) => ({ source, target, arrow: true }));
	if (finding.kind === "race" && !links.length && finding.accesses.length === 2)
		links.push({ source: 0, target: 1, arrow: false });
	if (finding.kind === "deadlock")
		finding.accesses.forEach((access, source) => {
			const target = finding.accesses.findLastIndex((other, i) => i < source && other.op === "L" &&
				other.variable === access.variable && lanes.of[i] !== lanes.of[source]);
			if (access.op === "B" && target >= 0)
				links.push({ source, target, arrow: true });
		});
	return links;
}

// Where everything is.
function layOut(finding) {
	const lanes = lanesOf(finding);
	const room = Math.min(1180, app.main.clientWidth - (app.main.clientWidth < 700 ? 46 : 60)) - LEFT;
	const narrow = Math.max(1, lanes.names.length) * NARROWEST > room - 30;
	const wide = narrow ? RAIL : Math.min(WIDEST, Math.floor((room - 30) / Math.max(1, lanes.names.length)));
	const x = lane => LEFT + lane * wide + (narrow ? 28 : DOT);
	const words = lane => (narrow ? x(lanes.names.length - 1) : x(lane)) + 24;
	const space = narrow ? Math.max(150, room + LEFT - words(0) - 8) : wide - 62;
	const spans = lockSpans(finding, lanes), held = new Map();
	for (const span of spans)
		if (!isThin(finding.accesses[span.from]))
			held.set(span.from, [...(held.get(span.from) ?? []), span.name]);
	const lines = finding.accesses.map((access, step) => {
		const said = stepLines(finding, step, narrow ? lanes.names[lanes.of[step]] : null);
		if (held.has(step))
			said.push(["lock-name", "holds " + held.get(step).join(", ")]);
		return said.flatMap(([style, text]) => wrap(text, part => widthOf(style, part) <= space, 4).map(part => [style, part, text]));
	});
	const thin = finding.accesses.map(isThin);
	const heights = lines.map((text, i) => thin[i] ? 32 + LINE * (text.length - 1) : Math.max(58, 26 + LINE * text.length));
	const y = [];
	let bottom = TOP + 14;
	heights.forEach((tall, i) => {
		y.push(bottom + (thin[i] ? 13 : 20));
		bottom += tall;
	});
	const width = narrow ? words(0) + space + 4 : LEFT + lanes.names.length * wide + 10;
	return { lanes, x, y, words, lines, thin, heights, spans, width, height: bottom + 10, narrow, wide };
}

function drawSwimLanes(finding, select) {
	const at = layOut(finding), { lanes, x, y, width, height } = at;
	const root = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group",
		"aria-label": `The interleaving: ${plural(at.lines.length, "step")} of ${plural(lanes.names.length, "thread")}` });

	root.append(svg("defs", {}, svg("marker", { id: "head", viewBox: "0 0 10 10", refX: 8, refY: 5, markerWidth: 9,
		markerHeight: 9, orient: "auto-start-reverse", markerUnits: "userSpaceOnUse" },
		svg("path", { class: "edge-head", d: "M0 0 10 5 0 10z" }))));
	const style = at.narrow ? "lane-name narrow" : "lane-name";
	lanes.names.forEach((name, lane) => {
		root.append(svg("text", { class: style, x: x(lane) - (at.narrow ? 16 : 12), y: 24 },
			wrap(name, part => widthOf(style, part) <= at.wide - (at.narrow ? 6 : 40), 1)[0] ?? "", svg("title", {}, name)),
			svg("line", { class: "lane-line", x1: x(lane), x2: x(lane), y1: TOP - 6, y2: height - 6 }));
	});
	drawBands(root, finding, at);
	finding.accesses.forEach((access, step) => {
		const stale = staleAt(finding, step);
		if (stale < 0)
			return;
		const use = finding.accesses.findIndex((a, i) => i > stale && a.unit === access.unit && !isLock(a));
		root.append(svg("line", { class: "stale-line", x1: x(lanes.of[step]), x2: x(lanes.of[step]), y1: y[stale],
			y2: y[use] - 10 }));
	});
	// Edges lie under the steps, so that they never take a click away.
	const links = linksOf(finding, lanes).map((link, index) => ({ ...link, line: drawLink(root, link, index, at) }));
	drawLocks(root, at);
	const steps = finding.accesses.map((access, step) => drawStep(root, finding, step, at, select));
	return {
		root, links,
		show(step) {
			steps.forEach((s, i) => {
				s.classList.toggle("on", i === step);
				s.setAttribute("aria-pressed", i === step);
			});
			links.forEach(link => link.line.classList.toggle("on", link.source === step || link.target === step));
			return steps[step];
		},
	};
}

function drawBands(root, finding, { lanes, x, y, thin }) {
	const ends = step => thin[step] ? 11 : 19;
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

function drawLocks(root, { spans, x, y, thin }) {
	const drawn = [];
	for (const span of spans) {
		// Locks that are held at the same time stand beside each other.
		const taken = drawn.filter(d => d.lane === span.lane && d.from <= span.to && span.from <= d.to).map(d => d.depth);
		span.depth = [0, 1, 2].find(depth => !taken.includes(depth));
		if (span.depth === undefined)
			continue;
		drawn.push(span);
		const left = x(span.lane) - 20 - 6 * span.depth;
		const top = y[span.from] - (thin[span.from] ? 0 : 14), end = y[span.to] + (thin[span.to] ? 0 : 14);
		root.append(svg("path", { class: "lock", d: `M${left + 5} ${top}H${left}V${end}H${left + 5}` },
			svg("title", {}, `holds ${span.name}`)));
	}
}

// Words stand to the right of a step, so an arrow to the right first goes down and then along the target's row, and one
// to the left first along its own row and then down: neither crosses any. What comes
// in is above the middle of a step, and what goes out below.
function edgePath(from, to, shift) {
	const side = Math.sign(to.x - from.x), bend = 14;
	if (side && to.y < from.y)
		return `M${from.x} ${from.y - 13}C${from.x} ${(from.y + to.y) / 2} ${to.x} ${(from.y + to.y) / 2} ${to.x} ${to.y + 16}`;
	if (!side || to.y - from.y < 2 * bend + 4) {
		const far = Math.max(40, Math.abs(to.y - from.y) / 2);
		return `M${from.x - 9} ${from.y + 7}C${from.x - far} ${from.y} ${to.x - far} ${to.y} ${to.x - 13} ${to.y - 4}`;
	}
	if (side > 0)
		return `M${from.x + shift} ${from.y + 12}V${to.y - bend - 6}q0 ${bend} ${bend} ${bend}H${to.x - 17}`;
	return `M${from.x - 10} ${from.y + 7}H${to.x + shift + bend}q${-bend} 0 ${-bend} ${bend}V${to.y - 17}`;
}

function drawLink(root, link, index, { lanes, x, y }) {
	const at = step => ({ x: x(lanes.of[step]), y: y[step] });
	const line = svg("path", { class: link.arrow ? "edge" : "edge meeting", d: edgePath(at(link.source), at(link.target), 4 + 4 * (index % 3)),
		"marker-end": link.arrow ? "url(#head)" : null });
	root.append(line);
	return line;
}

function drawStep(root, finding, step, { lanes, x, y, words, lines, thin, heights, width }, select) {
	const access = finding.accesses[step], left = x(lanes.of[step]), top = y[step], small = thin[step];
	const whole = [...new Set(lines[step].map(line => line[2]))];
	const group = svg("g", { class: "step", tabindex: 0, role: "button", "data-step": step,
		"aria-label": `Step ${step + 1}: ${access.thread ?? ""} ${whole.join(", ")}`,
		onclick: () => select(step),
		onkeydown: event => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); select(step); } } },
		svg("rect", { class: "hit", x: 0, y: top - (small ? 14 : 23), width, height: heights[step] - (small ? 4 : 2), rx: 8 }),
		svg("text", { class: "count", x: 10, y: top + 4 }, step + 1),
		svg("circle", { class: "ring", cx: left, cy: top, r: small ? 7 : 15 }),
		svg("circle", { class: "dot", cx: left, cy: top, r: small ? 5 : 12, fill: access.op === "B" ? "var(--red)" : unitColor(access.unit) }),
		small ? null : svg("text", { class: "op", x: left, y: top + 4 }, access.op));
	lines[step].forEach(([style, text, all], i) => group.append(
		svg("text", { class: style, x: words(lanes.of[step]), y: top + 4 + LINE * i }, text, svg("title", {}, all))));
	root.append(group);
	return group;
}
