// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The conflict graph: units as nodes, conflicts as arrows, and a circle of arrows that no order can satisfy.
function drawGraph(finding) {
	const count = finding.units.length;
	const radius = count < 3 ? 120 : Math.max(110, 30 * count);
	const width = 2 * radius + 220, height = count < 3 ? 190 : 2 * radius + 120;
	const center = { x: width / 2, y: height / 2 };
	const at = finding.units.map((_, i) => {
		const angle = (count < 3 ? Math.PI : -Math.PI / 2) + 2 * Math.PI * i / count;
		return { x: center.x + radius * Math.cos(angle), y: center.y + radius * Math.sin(angle) };
	});
	const half = finding.units.map(unit => Math.min(95, Math.max(46, 4 * Math.min((unit.function ?? "?").length, 22) + 14)));
	const root = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, style: "max-width:100%;height:auto", role: "img",
		"aria-label": "The conflict graph: " + finding.edges.map(e => `unit ${e.from + 1} before unit ${e.to + 1}`).join(", ") },
		svg("defs", {}, svg("marker", { id: "arrow", viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 9, markerHeight: 9,
			orient: "auto", markerUnits: "userSpaceOnUse" }, svg("path", { class: "edge-head", d: "M0 0 10 5 0 10z" }))));
	const pairs = new Map();
	for (const edge of finding.edges) {
		const a = at[edge.from], b = at[edge.to];
		const key = edge.from + ">" + edge.to, again = pairs.get(key) ?? 0;
		pairs.set(key, again + 1);
		if (again > 3)
			continue;
		drawArrow(root, finding, edge, { ...a, half: half[edge.from] }, { ...b, half: half[edge.to] }, again);
	}
	finding.units.forEach((unit, i) => {
		const name = unit.function ?? "?";
		root.append(svg("g", {},
			svg("rect", { x: at[i].x - half[i], y: at[i].y - 21, width: 2 * half[i], height: 42, rx: 12, class: "node",
				fill: "var(--card)", stroke: unitColor(i) }),
			svg("text", { x: at[i].x, y: at[i].y - 2, "font-weight": 600 }, cut(name, 22)),
			svg("text", { x: at[i].x, y: at[i].y + 13, class: "small" },
				`unit ${i + 1}${unit.thread ? ", " + cut(unit.thread, 10) : ""}`),
			svg("title", {}, `${name} ${fullPlace(unit)}`)));
	});
	return root;
}

function drawArrow(root, finding, edge, a, b, again) {
	const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
	const nx = -(b.y - a.y) / length, ny = (b.x - a.x) / length;
	// Both directions between two nodes bend away from each other; a third and fourth arrow more so.
	const bend = (finding.units.length < 3 ? 46 : 34) + 34 * again;
	const middle = { x: (a.x + b.x) / 2 - nx * bend, y: (a.y + b.y) / 2 - ny * bend };
	const cutAt = (node, toward) => {
		const d = Math.hypot(toward.x - node.x, toward.y - node.y) || 1;
		const ux = (toward.x - node.x) / d, uy = (toward.y - node.y) / d;
		// Where the ray leaves the node's box, and a little more.
		const t = Math.min(Math.abs((node.half + 4) / (ux || 1e-9)), Math.abs(25 / (uy || 1e-9)));
		return { x: node.x + ux * t, y: node.y + uy * t };
	};
	const from = cutAt(a, middle), to = cutAt(b, middle);
	const source = edge.source === null ? null : finding.accesses[edge.source];
	const words = source ? `${source.variable ?? "memory"}` : "program order";
	root.append(
		svg("path", { class: "edge", d: `M${from.x} ${from.y}Q${middle.x - nx * bend * .4} ${middle.y - ny * bend * .4} ${to.x} ${to.y}`,
			"marker-end": "url(#arrow)" }),
		svg("text", { x: middle.x - nx * 22, y: middle.y - ny * 18 - 3, class: "small" }, cut(words, 26), svg("title", {}, words)),
		source && svg("text", { x: middle.x - nx * 22, y: middle.y - ny * 18 + 11, class: "small" },
			`step ${edge.source + 1} → ${edge.target + 1}`) || "");
}
