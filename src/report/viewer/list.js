// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The list with its filters. Only the rows in sight are on the page, so that thousands are no burden.
const ROW = 68;
const ORDERS = {
	"most certain first": (a, b) => STATES.indexOf(a.state) - STATES.indexOf(b.state) || b.confidence - a.confidence,
	"by confidence": (a, b) => b.confidence - a.confidence,
	"most often seen": (a, b) => b.seen - a.seen,
	"by file": (a, b) => (a.where < b.where ? -1 : a.where > b.where ? 1 : 0),
	"by name": (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
};

function makeList(open) {
	const chosen = { state: new Set(), kind: new Set(), review: new Set() };
	const search = el("input", { type: "search", placeholder: "Search functions, files, variables…   /", "aria-label": "search", oninput: () => update() });
	const order = el("select", { "aria-label": "order", onchange: () => update() }, Object.keys(ORDERS).map(name => el("option", {}, name)));
	const count = el("span", { role: "status" });
	const rows = el("div", { class: "rows", role: "listbox", "aria-label": "findings", tabindex: 0 });
	const chips = [];
	let shown = [], selected = null;

	function chipRow(field, values) {
		const counts = new Map();
		for (const finding of data.findings)
			counts.set(finding[field], (counts.get(finding[field]) ?? 0) + 1);
		const present = values.filter(value => counts.has(value));
		if (present.length < 2)
			return null;
		return el("div", { class: "chips", role: "group", "aria-label": field }, present.map(value => {
			const chip = el("button", { class: "chip", "aria-pressed": "false", "data-filter": `${field}:${value}`, onclick: () => {
				if (!chosen[field].delete(value))
					chosen[field].add(value);
				update();
			} }, value, el("b", {}, counts.get(value).toLocaleString("en")));
			chips.push(() => chip.setAttribute("aria-pressed", chosen[field].has(value)));
			return chip;
		}));
	}

	const node = el("nav", { class: "side", "aria-label": "findings" },
		el("div", { class: "filters" }, search, chipRow("state", STATES), chipRow("kind", Object.keys(KINDS)), chipRow("review", REVIEWS),
			el("div", { class: "order" }, count, order)), rows);

	function update() {
		const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
		shown = data.findings.filter(finding =>
			Object.entries(chosen).every(([field, values]) => !values.size || values.has(finding[field])) &&
			words.every(word => finding.haystack.includes(word)));
		shown.sort(ORDERS[order.value]);
		chips.forEach(refresh => refresh());
		count.textContent = shown.length === data.findings.length ? plural(shown.length, "finding")
			: `${shown.length.toLocaleString("en")} of ${plural(data.findings.length, "finding")}`;
		rows.scrollTop = 0;
		paint();
	}

	function paint() {
		const first = Math.max(0, Math.floor(rows.scrollTop / ROW) - 4);
		const last = Math.min(shown.length, Math.ceil((rows.scrollTop + rows.clientHeight) / ROW) + 4);
		const drawn = [el("div", { style: `height:${shown.length * ROW}px`, "aria-hidden": "true" })];
		for (let i = first; i < last; i++) {
			const finding = shown[i];
			drawn.push(el("div", { class: "row", role: "option", id: "row-" + finding.id, style: `top:${i * ROW}px`, "data-id": finding.id,
				"aria-selected": finding === selected ? "true" : "false", "aria-posinset": i + 1, "aria-setsize": shown.length, onclick: () => open(finding) },
				el("div", { class: "name", title: finding.name }, finding.name),
				el("div", { class: "facts" }, badge(finding.state), finding.review && finding.review !== "new" ? badge(finding.review) : null,
					el("span", { class: "where", title: finding.where }, el("bdi", {}, finding.where)))));
		}
		if (!shown.length)
			drawn.push(el("div", { class: "none" }, data.findings.length ? "No finding matches." : "There are no findings."));
		rows.replaceChildren(...drawn);
		if (selected)
			rows.setAttribute("aria-activedescendant", "row-" + selected.id);
	}
	rows.addEventListener("scroll", paint, { passive: true });
	rows.addEventListener("keydown", event => {
		const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8, Home: -shown.length, End: shown.length }[event.key];
		const at = shown.indexOf(selected);
		if (!by || !shown.length)
			return;
		event.preventDefault();
		open(shown[at < 0 ? 0 : Math.min(shown.length - 1, Math.max(0, at + by))]);
	});
	addEventListener("resize", paint);

	return {
		node, search, update,
		focus() { search.focus(); search.select(); },
		select(finding) {
			selected = finding;
			const at = shown.indexOf(finding);
			if (at >= 0 && (at * ROW < rows.scrollTop || (at + 1) * ROW > rows.scrollTop + rows.clientHeight))
				rows.scrollTop = Math.max(0, at * ROW - rows.clientHeight / 2);
			paint();
		},
		neighbour(finding, by) {
			const at = shown.indexOf(finding);
			return shown[at < 0 ? 0 : Math.min(shown.length - 1, Math.max(0, at + by))] ?? null;
		},
		onlyState(state) {
			Object.values(chosen).forEach(values => values.clear());
			chosen.state.add(state);
			update();
		},
	};
}
