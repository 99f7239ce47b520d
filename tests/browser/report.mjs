// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// report.mjs REPORTS OUTPUT: opens the reports as a reader does, with mouse and keys. After every page: no message
// on the console, no error, no dialog, and no request but for the file itself.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [reports, output] = process.argv.slice(2);
const { chromium } = createRequire(process.env.ATOMSAN_NODE_MODULES + "/")("playwright-core");
const browser = await chromium.launch({ executablePath: process.env.ATOMSAN_CHROMIUM ?? "/usr/bin/chromium", chromiumSandbox: false });

async function visit(name, options, look) {
	const context = await browser.newContext({ viewport: { width: 1360, height: 900 }, ...options });
	const page = await context.newPage();
	const address = pathToFileURL(`${reports}/${name}.html`).href;
	const wrong = [];
	page.on("console", message => wrong.push(`console: ${message.text()}`));
	page.on("pageerror", error => wrong.push(`error: ${error.message}`));
	page.on("dialog", dialog => { wrong.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
	page.on("request", request => {
		if (request.url().split("#")[0] !== address && !request.url().startsWith("data:"))
			wrong.push(`request: ${request.url()}`);
	});
	await page.goto(address);
	await look(page);
	assert.deepEqual(wrong, [], name);
	await context.close();
	console.log(`ok ${name} ${JSON.stringify(options)}`);
}

// Going back in the history is told to the page a little later, so what is selected is waited for.
const selected = (page, step) => page.waitForFunction(n => document.querySelector(".step.on")?.dataset.step === n, String(step),
	{ timeout: 20000 });
const theme = page => page.evaluate(() => document.documentElement.dataset.theme);
const shot = (page, name) => page.screenshot({ path: `${output}/${name}.png` });

// A real finding, from the overview to its last step.
await visit("bank", { colorScheme: "light" }, async page => {
	assert.match(await page.locator("h1").textContent(), /^1 finding in .*bank/);
	await page.locator(".row").click();
	assert.match(await page.locator("h1").textContent(), /deposit is not atomic/);
	const steps = await page.locator(".step").count();
	assert.ok(steps >= 3, `${steps} steps`);
	assert.equal(await page.locator(".lane-name").count(), 2);
	assert.ok(await page.locator(".edge").count() >= 4, "conflicts as arrows, in the lanes and in the graph");
	assert.ok(await page.locator(".lock").count() >= 3, "locks as brackets");
	assert.equal(await page.locator(".stale-line").count(), 1);
	// The sources, with the lines of the unit and of the steps.
	assert.ok(await page.locator(".source tr.hit", { hasText: "balance" }).count() >= 2, "the lines of the accesses");
	assert.ok(await page.locator(".source tr.in").count() >= 1, "the unit's lines");
	await selected(page, 0);
	for (let i = 1; i < steps; i++) {
		await page.keyboard.press("ArrowRight");
		await selected(page, i);
		assert.equal(await page.locator(".stepper output").textContent(), `step ${i + 1} of ${steps}`);
		assert.match(page.url(), new RegExp(`/${i + 1}$`));
		assert.equal(await page.locator(".source tr.on").count(), 1);
	}
	await page.keyboard.press("ArrowRight");
	await selected(page, steps - 1);
	await page.keyboard.press("ArrowLeft");
	await selected(page, steps - 2);
	await page.locator(".step").first().click();
	await selected(page, 0);
	await shot(page, "finding-light"); // docs/report.png is this one
	assert.match(await page.locator(".life").textContent(), /observed.*reproduced/s);
	// What was read and written in the failing run.
	assert.match(await page.locator(".step").nth(1).textContent(), /reads account\.balance: 0/);
	assert.match(await page.locator(".step").nth(1).textContent(), /stale from step \d+ on: \d+ there/);
	// Back in the browser's history is back in the report.
	await page.goBack();
	await selected(page, steps - 2);
	await page.keyboard.press("Escape");
	assert.match(await page.locator("h1").textContent(), /^1 finding/);
});

// The theme: as the system has it, or as chosen, and remembered.
await visit("all", { colorScheme: "dark" }, async page => {
	assert.equal(await theme(page), "dark");
	const dark = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
	await shot(page, "overview-dark");
	await page.keyboard.press("t");
	assert.equal(await theme(page), "light");
	assert.notEqual(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), dark);
	await page.locator("[data-tool=theme]").click();
	assert.equal(await theme(page), "dark");
	assert.equal(await page.evaluate(() => localStorage.getItem("atomsan-theme")), "dark");
});
// When the browser passes on what was stored is its own affair, so the next visit is given it.
await visit("all", { colorScheme: "light" }, async page => {
	assert.equal(await theme(page), "light");
	await page.addInitScript(() => localStorage.setItem("atomsan-theme", "dark"));
	await page.reload();
	assert.equal(await theme(page), "dark");
	assert.equal(await page.locator("[data-tool=theme]").getAttribute("aria-label"), "theme: dark");
});

// Filters, search, and the keys from finding to finding.
await visit("all", { colorScheme: "light" }, async page => {
	assert.equal(await page.locator(".note li").count(), 2, "what was not seen is on the first page");
	assert.match(await page.locator("main").textContent(), /4\.25× the plain program/);
	assert.match(await page.locator("main").textContent(), /0\.95/);
	assert.equal(await page.locator(".row").count(), 6);
	await page.locator("[data-filter='state:suspected']").click();
	assert.equal(await page.locator(".row").count(), 2);
	await page.locator("[data-filter='kind:stale-value']").click();
	assert.equal(await page.locator(".row").count(), 1);
	assert.equal(await page.locator("[role=status]").textContent(), "1 of 6 findings");
	await page.locator("[data-filter='kind:stale-value']").click();
	await page.locator("[data-filter='state:suspected']").click();
	await page.keyboard.press("/");
	await page.keyboard.type("LEDGER total");
	assert.equal(await page.locator(".row").count(), 1);
	await page.keyboard.press("Escape");
	await page.keyboard.press("j");
	assert.match(await page.locator("h1").textContent(), /rotate, settle and audit/);
	assert.equal(await page.locator(".graph .node").count(), 3);
	await shot(page, "cycle-light");
	await page.locator("input[type=search]").fill("nothing has this name");
	assert.match(await page.locator(".none").textContent(), /No finding matches/);
	await page.locator("input[type=search]").fill("");
	// Every finding can be opened one after the other.
	await page.locator("h1").click();
	const titles = new Set();
	for (let i = 0; i < 8; i++) {
		titles.add(await page.locator("h1").textContent());
		await page.keyboard.press("j");
	}
	for (let i = 0; i < 8; i++) {
		titles.add(await page.locator("h1").textContent());
		await page.keyboard.press("k");
	}
	assert.equal(titles.size, 6);
	await page.keyboard.press("?");
	assert.ok(await page.locator("dialog").isVisible());
	await page.keyboard.press("Escape");
	assert.ok(!await page.locator("dialog").isVisible());
});

// Only the keyboard.
await visit("all", {}, async page => {
	await page.locator(".rows").focus();
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("ArrowDown");
	assert.equal(await page.locator(".row[aria-selected=true]").getAttribute("aria-posinset"), "2");
	await page.keyboard.press("End");
	assert.equal(await page.locator(".row[aria-selected=true]").getAttribute("aria-posinset"), "6");
	await page.keyboard.press("Home");
	assert.equal(await page.locator(".row[aria-selected=true]").getAttribute("aria-posinset"), "1");
	await page.keyboard.press("Escape");
	await page.keyboard.press("j");
	await page.locator(".step").nth(2).focus();
	await page.keyboard.press("Enter");
	await selected(page, 2);
});

// On a small screen list and finding take turns, and nothing sticks out.
await visit("bank", { viewport: { width: 400, height: 800 } }, async page => {
	assert.ok(!await page.locator("main").isVisible());
	await page.locator(".row").click();
	assert.ok(!await page.locator(".side").isVisible());
	assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 400);
	await shot(page, "small");
	await page.locator(".back").click();
	assert.ok(await page.locator(".side").isVisible());
});

// Every finding of every verb, wide and light, narrow and dark: nothing sticks out of the page or of its drawing.
async function fits(page, what) {
	const out = await page.evaluate(() => {
		const wrong = [];
		if (document.documentElement.scrollWidth > innerWidth)
			wrong.push(`the page is ${document.documentElement.scrollWidth} wide`);
		for (const drawing of document.querySelectorAll(".lanes svg, .graph svg")) {
			const { width, height } = drawing.viewBox.baseVal;
			for (const text of drawing.querySelectorAll("text")) {
				const box = text.getBBox();
				if (box.x < -1 || box.x + box.width > width + 1 || box.y < -1 || box.y + box.height > height + 1)
					wrong.push(`"${text.firstChild?.textContent}" is at ${box.x} ${box.y}, ${box.width} x ${box.height}, in ${width} x ${height}`);
			}
		}
		// Words of a step never lie over the dot of another lane in the same row.
		const dots = [...document.querySelectorAll(".step .dot")].map(dot => dot.getBBox());
		for (const text of document.querySelectorAll(".step text:not(.op):not(.count)")) {
			const box = text.getBBox();
			if (dots.some(dot => box.x < dot.x + dot.width && dot.x < box.x + box.width && box.y < dot.y + dot.height && dot.y < box.y + box.height))
				wrong.push(`"${text.firstChild?.textContent}" lies over a step`);
		}
		return wrong;
	});
	assert.deepEqual(out, [], what);
}

for (const name of ["all", "life", "race", "deadlock", "hostile"])
	for (const [colorScheme, width] of [["light", 1400], ["dark", 420]])
		await visit(name, { colorScheme, viewport: { width, height: 900 } }, async page => {
			const count = await page.locator(".row").count();
			for (let i = 0; i < count; i++) {
				await page.locator(".row").nth(i).click();
				await fits(page, `${name}, finding ${i + 1}, ${width} pixels`);
				await shot(page, `${name}-${i + 1}-${colorScheme}`);
				if (width < 760)
					await page.locator(".back").click();
			}
			if (width > 760) {
				await page.keyboard.press("Escape");
				await fits(page, `${name}, overview`);
			}
		});

// One page has the whole life; the unit is in colour from its first line to its last.
await visit("life", {}, async page => {
	await page.locator(".row").click();
	assert.deepEqual(await page.locator(".life .badge").allTextContents(), ["suspected", "predicted", "reproduced", "healed", "fixed"]);
	const lines = await page.locator(".source tr.in").allTextContents();
	assert.match(lines[0], /static void deposit\(/);
	assert.match(lines.at(-1), /}$/);
	const trials = await page.locator("tr", { hasText: "kept, healed" }).textContent();
	assert.match(trials, /^0\.000 \/ 1kept, healedpassed$/);
	assert.match(await page.locator(".command code").textContent(), /^atomsan replay .*F-40f78d747c6f\.schedule -- \.\/bank 1$/);
	await page.keyboard.press("Escape");
	assert.match(await page.locator("tr", { hasText: "explore" }).textContent(), /\d\.\d×/);
});

// The two accesses of a race are linked without an order; of a section with one.
await visit("race", {}, async page => {
	await page.locator(".row", { hasText: "at the same time" }).first().click();
	assert.equal(await page.locator(".lanes .edge.meeting").count(), 1);
	assert.match(await page.locator(".command code").textContent(), /^atomsan race --noise=findings:300 -- \.\/bank$/);
	await page.locator(".row", { hasText: "not atomic" }).first().click();
	assert.equal(await page.locator(".lanes .edge").count(), 2);
	assert.equal(await page.locator(".lanes .edge.meeting").count(), 0);
});

// Who waits is linked with who has the lock, and is not shown as if he had it.
await visit("deadlock", {}, async page => {
	await page.locator(".row").click();
	assert.match(await page.locator("h1").textContent(), /^deadlock in both: T\d waits for [ab], T\d for [ab]$/);
	const waits = await page.locator(".step", { hasText: "waits for" }).count();
	assert.ok(waits >= 2, `${waits} wait`);
	assert.equal(await page.locator(".lanes .edge").count(), waits);
	assert.equal(await page.locator(".lock").count(), await page.locator(".step", { hasText: /^\d+locks / }).count());
});

// When the window gets narrow the drawing is made anew, at the same step.
await visit("life", { viewport: { width: 1400, height: 900 } }, async page => {
	await page.locator(".row").click();
	await page.keyboard.press("ArrowRight");
	await selected(page, 1);
	const before = await page.locator(".lanes svg").getAttribute("width");
	await page.setViewportSize({ width: 420, height: 900 });
	await page.waitForFunction(width => Number(document.querySelector(".lanes svg").getAttribute("width")) < width, Number(before));
	await selected(page, 1);
	await fits(page, "after it got narrow");
});

// Names and sources that try to be something else are text.
await visit("hostile", {}, async page => {
	await page.locator(".row").click();
	assert.match(await page.locator("h1").textContent(), /<\/script><script>alert\(1\)<\/script><img src=x/);
	assert.equal(await page.locator("img").count(), 0);
	assert.equal(await page.locator("script").count(), 2);
	await page.keyboard.press("ArrowRight");
	await shot(page, "hostile");
});

// Five thousand: the page has rows for those in sight alone, so that filters and scrolling stay quick.
await visit("5000", {}, async page => {
	assert.match(await page.locator("h1").textContent(), /^5,000 findings/);
	assert.ok(await page.locator(".row").count() < 50);
	const spent = await page.evaluate(() => {
		const search = document.querySelector("input[type=search]");
		const before = performance.now();
		for (const text of ["s", "st", "step_4", "step_49", "step_499", ""]) {
			search.value = text;
			search.dispatchEvent(new Event("input"));
		}
		return (performance.now() - before) / 6;
	});
	console.log(`# a filter over 5,000 findings took ${spent.toFixed(1)} ms`);
	await page.locator("input[type=search]").fill("step_4999");
	assert.equal(await page.locator(".row").count(), 1);
	await page.locator(".row").click();
	assert.match(await page.locator("h1").textContent(), /^step_4999 is not atomic/);
	await page.locator("input[type=search]").fill("");
	await page.locator(".rows").evaluate(rows => { rows.scrollTop = rows.scrollHeight; });
	await page.waitForFunction(() => document.querySelector(".row[aria-posinset='5000']"));
	assert.ok(await page.locator(".row").count() < 50);
	await shot(page, "many");
});
await browser.close();
