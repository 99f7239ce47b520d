// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The data, and how things are put on the page: always as text, never as markup, for names and
// sources come from anywhere.
//
// Characters that turn the direction of writing could make a line look like another one, so they are shown as
// their numbers. The data is ASCII, where they can only stand as escapes.
const data = JSON.parse(document.getElementById("data").textContent.replace(/(\\\\)|\\u(20(?:0[ef]|2[89a-e]|6[6-9]))/g,
	(whole, backslash, code) => backslash ?? `⟨U+${code}⟩`));
const STATES = ["reproduced", "observed", "predicted", "suspected", "healed"];
const KINDS = { "atomicity": "Atomicity violation", "race": "Data race", "high-level-race": "High-level race",
	"stale-value": "Stale value", "deadlock": "Deadlock" };
const REVIEWS = ["new", "confirmed", "false-alarm", "intended", "fixed"];
const OPS = { R: "reads", W: "writes", U: "updates", L: "locks", A: "unlocks", B: "waits for" };

function fill(element, attributes, children) {
	for (const [name, value] of Object.entries(attributes || {})) {
		if (value === null || value === undefined || value === false)
			continue;
		if (name.startsWith("on"))
			element.addEventListener(name.slice(2), value);
		else
			element.setAttribute(name, value === true ? "" : value);
	}
	for (const child of children.flat(Infinity))
		if (child !== null && child !== undefined && child !== false)
			element.append(child);
	return element;
}

const el = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
const svg = (name, attributes, ...children) =>
	fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
const lastPart = path => path ? path.slice(path.lastIndexOf("/") + 1) : "";
const placeText = place => (place.file ? lastPart(place.file) + (place.line ? ":" + place.line : "") : "");
const fullPlace = place => (place.file ? place.file + (place.line ? ":" + place.line : "") : "");
const unitColor = unit => unit === null || unit === undefined ? "var(--faint)" : `var(--u${unit % 6})`;
const when = time => (time || "").replace("T", " ").replace(/:\d\dZ$/, " UTC");
const badge = word => el("span", { class: "badge " + word }, word);

/* Text that is too long for its place in a drawing is cut; all of it is in the title. */
function cut(text, length) {
	const letters = Array.from(text);
	return letters.length > length ? letters.slice(0, length - 1).join("") + "…" : text;
}

// Text as several lines, of which each fits; what is left over in the last one is cut.
function wrap(text, fits, most) {
	const lines = [""];
	const add = (part, separator) => {
		const longer = lines[lines.length - 1] + separator + part;
		const room = !lines[lines.length - 1] || fits(longer);
		if (room)
			lines[lines.length - 1] = lines[lines.length - 1] ? longer : part;
		else
			lines.push(part);
	};
	for (const word of text.split(/\s/)) {
		if (fits(word)) {
			add(word, " ");
			continue;
		}
		lines.push("");
		for (const letter of word)
			add(letter, "");
	}
	const shown = lines.filter(Boolean);
	if (shown.length <= most)
		return shown;
	let last = Array.from(shown[most - 1]);
	while (last.length && !fits(last.join("") + "…"))
		last = last.slice(0, -1);
	return [...shown.slice(0, most - 1), last.join("") + "…"];
}

// The step that makes what this step read stale while its unit goes on, or -1.
function staleAt(finding, step) {
	const access = finding.accesses[step];
	if (access.unit === null || !"RU".includes(access.op))
		return -1;
	for (const edge of finding.edges) {
		const other = edge.target === null ? null : finding.accesses[edge.target];
		if (edge.source === step && other && edge.target > step && other.unit !== access.unit &&
		    "WU".includes(other.op) &&
		    finding.accesses.some((a, i) => i > edge.target && a.unit === access.unit && "RWU".includes(a.op)))
			return edge.target;
	}
	return -1;
}

// One lane for each thread, in the order in which they act; of findings that name no threads, for each unit.
function lanesOf(finding) {
	const names = [];
	const of = finding.accesses.map(access => {
		const unit = access.unit === null ? null : finding.units[access.unit];
		const name = access.thread ?? unit?.thread ?? (unit ? `unit ${access.unit + 1}` : "some thread");
		if (!names.includes(name))
			names.push(name);
		return names.indexOf(name);
	});
	return { names, of };
}

const storage = {
	get(key) { try { return localStorage.getItem(key); } catch { return null; } },
	set(key, value) { try { localStorage.setItem(key, value); } catch { /* a file may not have any */ } },
};
