// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sources with the units in colour and the steps at their lines.
const WORDS = new Set(("auto break case catch char class const constexpr continue default delete do double else enum extern " +
	"false float for goto if inline int long namespace new noexcept nullptr operator private protected public register " +
	"restrict return short signed sizeof static struct switch template this throw true try typedef typename union " +
	"unsigned using virtual void volatile while bool size_t NULL").split(" "));
const TOKEN = /(\/\/.*|\/\*.*?(?:\*\/|$)|^\s*\*(?!\w).*)|("(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?)|(\b\d[\w.]*)|([A-Za-z_]\w*)/g;

// Colours by line alone, which is all that a report needs.
function colored(text) {
	const parts = [];
	let last = 0;
	if (text.length > 2000)
		return [text];
	for (const match of text.matchAll(TOKEN)) {
		const style = match[1] ? "c" : match[2] ? "s" : match[3] ? "n" : WORDS.has(match[4]) ? "k" : null;
		if (!style)
			continue;
		parts.push(text.slice(last, match.index), el("span", { class: style }, match[0]));
		last = match.index + match[0].length;
	}
	parts.push(text.slice(last));
	return parts;
}

function lineOf(file, number) {
	for (const [first, lines] of data.sources[file] ?? [])
		if (number >= first && number < first + lines.length)
			return lines[number - first];
	return null;
}

// The lines of a unit: from where it begins to the end of its block, or to the last thing that is known to happen in it.
function unitLines(finding, u) {
	const unit = finding.units[u];
	let last = Math.max(unit.line, unit.end ?? 0);
	for (const access of finding.accesses)
		if (access.unit === u)
			for (const place of [access, ...access.stack])
				if (place.file === unit.file && (place.function === unit.function || place === access) &&
				    place.line > last && place.line < unit.line + 400)
					last = place.line;
	return [unit.line, last];
}

// Which lines to show, by file: those of units and of steps, and some around them.
function wantedLines(finding) {
	const files = new Map();
	const want = (file, line, unit, step) => {
		if (!file || !line || !data.sources[file])
			return;
		if (!files.has(file))
			files.set(file, new Map());
		const lines = files.get(file);
		for (let n = Math.max(1, line - 2); n <= line + 3; n++)
			if (!lines.has(n))
				lines.set(n, { unit: null, steps: [] });
		if (unit !== null && lines.get(line).unit === null)
			lines.get(line).unit = unit;
		if (step !== null)
			lines.get(line).steps.push(step);
	};
	finding.units.forEach((unit, u) => {
		const [from, to] = unitLines(finding, u);
		for (let n = from; n <= to; n++)
			want(unit.file, n, u, null);
	});
	finding.accesses.forEach((access, step) => want(access.file, access.line, null, step));
	return files;
}

function drawSources(finding, select) {
	const blocks = [], marks = new Map();
	for (const [file, lines] of wantedLines(finding)) {
		const body = el("table", {});
		let before = null;
		for (const number of [...lines.keys()].sort((a, b) => a - b)) {
			const text = lineOf(file, number);
			if (text === null)
				continue;
			const { unit, steps } = lines.get(number);
			const color = steps.length ? finding.accesses[steps[0]].unit : unit;
			if (before !== null && number !== before + 1)
				body.append(el("tr", { class: "gap" }, el("td", { colspan: 3 }, "⋯")));
			before = number;
			const row = el("tr", { class: [unit !== null && "in", steps.length && "hit"].filter(Boolean).join(" ") || null,
				style: `--c:${unitColor(color)}` },
				el("td", { class: "ln" }, number),
				el("td", { class: "steps" }, steps.map(step => el("button", { class: "pin", title: `step ${step + 1}`,
					style: `--c:${unitColor(finding.accesses[step].unit)}`, onclick: () => select(step) }, step + 1))),
				el("td", {}, colored(text)));
			steps.forEach(step => marks.set(step, row));
			body.append(row);
		}
		if (before !== null)
			blocks.push(el("section", { class: "source" }, el("header", {}, el("code", {}, file),
				finding.changed.includes(file) && el("span", { class: "changed" }, "has changed since; its lines may be others")),
				el("div", { class: "code", tabindex: 0, role: "region", "aria-label": file }, body)));
	}
	return { blocks, marks };
}
