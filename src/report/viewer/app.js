// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The whole: which page is open, the theme, the keys.
for (const finding of data.findings) {
	const place = finding.units[0] ?? finding.accesses[0] ?? {};
	finding.review ??= "new";
	finding.where = fullPlace(place);
	const words = [finding.name, finding.id, finding.kind, finding.state, finding.pattern, ...finding.variables,
		...finding.units.flatMap(unit => [unit.function, unit.file, unit.set, unit.thread]),
		...finding.accesses.flatMap(access => [access.function, access.file, access.variable, ...access.locks])];
	finding.haystack = [...new Set(words)].join("\n").toLowerCase();
}

const THEMES = { auto: "◐ auto", light: "☀ light", dark: "☾ dark" };
const app = {
	byId: new Map(data.findings.map(finding => [finding.id, finding])),
	finding: null, step: 0, view: null, theme: "auto",

	start() {
		this.root = document.getElementById("app");
		this.list = makeList(finding => this.open(finding));
		this.main = el("main", { class: "main" });
		this.themeButton = el("button", { class: "tool", "data-tool": "theme", title: "theme (t)", onclick: () => this.nextTheme() });
		this.help = this.makeHelp();
		this.root.append(el("header", { class: "bar" },
			el("button", { class: "brand", title: "overview (Esc)", onclick: () => this.open(null) }, this.mark(), "atomsan"),
			el("span", { class: "program mono" }, data.program ?? ""), el("span", { class: "space" }),
			this.themeButton, el("button", { class: "tool", "aria-label": "keys", title: "keys (?)", onclick: () => this.help.showModal() }, "?")),
			this.list.node, this.main, this.help);
		document.title = `atomsan: ${data.program ?? "findings"}`;
		this.setTheme(storage.get("atomsan-theme") ?? "auto");
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.setTheme(this.theme));
		addEventListener("hashchange", () => this.route());
		addEventListener("resize", () => this.fit());
		addEventListener("keydown", event => this.key(event));
		this.list.update();
		this.route();
	},

	// Two threads that cross.
	mark() {
		return svg("svg", { width: 22, height: 22, viewBox: "0 0 22 22", "aria-hidden": "true" },
			svg("path", { d: "M5 2v5c0 6 12 2 12 8v5", fill: "none", stroke: "var(--u0)", "stroke-width": 3, "stroke-linecap": "round" }),
			svg("path", { d: "M17 2v5c0 6-12 2-12 8v5", fill: "none", stroke: "var(--u1)", "stroke-width": 3, "stroke-linecap": "round" }));
	},

	makeHelp() {
		const keys = [["j k", "next, previous finding"], ["→ ←", "next, previous step"], ["/", "search"], ["Esc", "overview"], ["t", "theme"], ["?", "these keys"]];
		return el("dialog", { "aria-label": "keys" }, el("h2", {}, "Keys"), el("div", { class: "keys" }, keys.map(([key, what]) =>
			[el("span", {}, key.split(" ").map(k => [el("kbd", {}, k), " "])), el("span", {}, what)])),
			el("form", { method: "dialog", style: "margin-top:16px;text-align:right" }, el("button", { class: "tool" }, "close")));
	},

	setTheme(theme) {
		this.theme = theme in THEMES ? theme : "auto";
		const dark = this.theme === "dark" || (this.theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
		document.documentElement.dataset.theme = dark ? "dark" : "light";
		this.themeButton.textContent = THEMES[this.theme];
		this.themeButton.setAttribute("aria-label", `theme: ${this.theme}`);
	},

	nextTheme() {
		const names = Object.keys(THEMES);
		this.setTheme(names[(names.indexOf(this.theme) + 1) % names.length]);
		storage.set("atomsan-theme", this.theme);
	},

	// The address says what is open, so that a link to a finding or a step can be passed on.
	route() {
		const [id, step] = decodeURIComponent(location.hash.slice(1)).split("/");
		const finding = this.byId.get(id) ?? null;
		if (!this.view || finding !== this.finding) {
			this.finding = finding;
			this.root.classList.toggle("reading", finding !== null);
			this.width = this.main.clientWidth;
			this.view = finding ? findingPage(finding) : { page: overviewPage(), show() {} };
			this.main.replaceChildren(this.view.page);
			this.main.scrollTop = 0;
			this.list.select(finding);
			this.step = 0;
		}
		const wanted = Number.parseInt(step, 10) - 1;
		const last = finding ? finding.accesses.length - 1 : 0;
		this.step = Math.max(0, Math.min(last, Number.isNaN(wanted) ? 0 : wanted));
		this.view.show(this.step, !Number.isNaN(wanted));
	},

	// Drawings are as wide as there was room for; when there is more or less, they are made anew, and stay where they are.
	fit() {
		clearTimeout(this.fitting);
		this.fitting = setTimeout(() => {
			if (this.width === this.main.clientWidth)
				return;
			const scrolled = this.main.scrollTop;
			this.view = null;
			this.route();
			this.main.scrollTop = scrolled;
		}, 120);
	},

	// The event that tells of a new address comes later; a key must find the page as the last one left it.
	show(address) { location.hash = address; this.route(); },
	open(finding) { this.show(finding ? finding.id : ""); },
	select(step) { this.show(`${this.finding.id}/${step + 1}`); },
	onlyState(state) { this.list.onlyState(state); this.root.classList.remove("reading"); },
	search(text) { this.list.search.value = text; this.list.update(); },

	key(event) {
		if (event.ctrlKey || event.metaKey || event.altKey || this.help.open)
			return;
		const typing = event.target.closest?.("input, select, textarea");
		if (typing && event.key !== "Escape")
			return;
		const actions = {
			"/": () => this.list.focus(),
			"?": () => this.help.showModal(),
			t: () => this.nextTheme(),
			j: () => this.open(this.list.neighbour(this.finding, 1)),
			k: () => this.open(this.list.neighbour(this.finding, -1)),
			ArrowRight: () => this.go(1),
			ArrowLeft: () => this.go(-1),
			Escape: () => (typing ? typing.blur() : this.open(null)),
		};
		if (!Object.hasOwn(actions, event.key))
			return;
		event.preventDefault();
		actions[event.key]();
	},

	go(by) {
		if (this.finding?.accesses.length)
			this.select(Math.max(0, Math.min(this.finding.accesses.length - 1, this.step + by)));
	},
};
app.start();
