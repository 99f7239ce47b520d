// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The first page: how much of what, what was not seen, and what was run.
function trialTable(trials, withFinding) {
	return el("div", { class: "scroll" }, el("table", {},
		el("thead", {}, el("tr", {}, el("th", {}, "P(failure)"), el("th", {}, "runs"), el("th", {}, "strategy"), el("th", {}, "verdict"),
			withFinding && [el("th", {}, "finding"), el("th", {}, "schedule")])),
		el("tbody", {}, [...trials].sort((a, b) => b.failures / (b.runs || 1) - a.failures / (a.runs || 1)).map(trial => el("tr", {},
			el("td", { style: "white-space:nowrap" },
				trial.runs > 0 && el("span", { class: "meter" }, el("i", { style: `width:${trial.runs ? 100 * Math.min(1, trial.failures / trial.runs) : 0}%` })),
				trial.runs ? (trial.failures / trial.runs).toFixed(2) : "–"),
			el("td", {}, trial.runs ? `${trial.failures} / ${trial.runs}` : ""), el("td", {}, trial.strategy ?? ""), el("td", {}, trial.verdict ?? ""),
			withFinding && [el("td", {}, findingLink(trial.finding)), el("td", { class: "mono", title: trial.schedule },
				trial.schedule ? lastPart(trial.schedule) : `seed ${trial.seed}`)])))));
}

function findingLink(id) {
	const finding = app.byId.get(id);
	return finding ? el("a", { href: "#" + id, title: finding.name }, id) : id ?? "";
}

function runTable(runs) {
	return el("div", { class: "scroll" }, el("table", {},
		el("thead", {}, el("tr", {}, ["when", "verb", "program", "verdict", "findings", "overhead", "seed"].map(h => el("th", {}, h)))),
		el("tbody", {}, runs.map(run => el("tr", {}, el("td", { style: "white-space:nowrap" }, when(run.time)), el("td", {}, run.verb ?? ""),
			el("td", { class: "mono" }, run.arguments || run.program || ""), el("td", {}, run.verdict ?? ""), el("td", {}, run.findings),
			el("td", {}, run.overhead ? run.overhead.toFixed(1) + "×" : "–"), el("td", { class: "mono" }, run.seed))))));
}

function overviewPage() {
	const by = Object.fromEntries(STATES.map(state => [state, 0]));
	for (const finding of data.findings)
		by[finding.state]++;
	const total = data.findings.length;
	// How often each strategy failed is in a table of its own.
	const counts = Object.entries(data.counts).filter(([name]) => !data.trials.length || !/^(runs|failures|p-failure)-/.test(name));
	return el("article", { class: "page" },
		el("header", { class: "head" },
			el("h1", { tabindex: -1 }, total ? plural(total, "finding") : "Nothing was found", data.program && ` in ${data.program}`),
			el("div", { class: "facts" }, data.arguments.length ? el("code", {}, data.arguments.join(" ")) : null,
				data.build_id && el("span", {}, "build-id ", el("code", {}, data.build_id)), data.seed !== "0" && el("span", {}, "seed ", el("code", {}, data.seed)),
				data.suppressed ? el("span", {}, `${data.suppressed} suppressed`) : null)),
		data.blind_spots.length ? el("div", { class: "note", role: "note" }, el("b", {}, "What was not seen"),
			el("ul", {}, data.blind_spots.map(spot => el("li", {}, spot)))) : null,
		total ? el("div", { class: "stripe", role: "img", "aria-label": STATES.map(s => `${by[s]} ${s}`).join(", ") },
			STATES.filter(s => by[s]).map(s => el("i", { class: "s-" + s, style: `flex:${by[s]}`, title: `${by[s]} ${s}` }))) : null,
		el("div", { class: "numbers" }, STATES.map(state => el("button", { class: "number", onclick: () => app.onlyState(state) },
			el("b", {}, by[state].toLocaleString("en")), badge(state)))),
		hotFiles(),
		data.trials.length ? card("Schedules that were tried", "how often the program failed under each", el("div", { class: "body" }, trialTable(data.trials, true))) : null,
		data.runs?.length ? card("Runs", plural(data.runs.length, "run"), el("div", { class: "body" }, runTable(data.runs))) : null,
		counts.length ? card("The run in numbers", null, el("dl", { class: "body counts" }, counts.map(([name, value]) => el("div", {},
			el("dt", {}, name.replaceAll("-", " ")),
			el("dd", {}, value === null ? "–" : name === "overhead" ? value.toFixed(2) + "× the plain program" : value.toLocaleString("en")))))) : null);
}

// Where to begin when there are many.
function hotFiles() {
	const files = new Map();
	for (const finding of data.findings) {
		const file = (finding.units[0] ?? finding.accesses[0])?.file;
		if (file)
			files.set(file, (files.get(file) ?? 0) + 1);
	}
	const most = [...files].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 12);
	if (most.length < 2)
		return null;
	return card("Where", `${plural(files.size, "file")}; a name is a filter`, el("div", { class: "body" }, el("table", {}, el("tbody", {},
		most.map(([file, count]) => el("tr", {}, el("td", {}, el("button", { class: "link mono", onclick: () => app.search(file) }, file)),
			el("td", { style: "white-space:nowrap;width:1%" }, el("span", { class: "meter" },
				el("i", { style: `width:${100 * count / most[0][1]}%;background:var(--accent)` })), count)))))));
}
