// SPDX-License-Identifier: LGPL-2.1-or-later
// Drives the page of pevtrace report in a browser; tests/report.py starts it.
//
// usage: node report.mjs PLAYWRIGHT CHROMIUM PAGE HOSTILE
//
// PLAYWRIGHT: index.mjs of playwright-core; PAGE: of tests/targets/demo or perf;
// HOSTILE: of names that are markup.  Prints "ok TEXT" or "not ok TEXT" with
// lines of "# " behind it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [playwright, chromium, page, hostile] = process.argv.slice(2);
const { chromium: browserType } = await import(pathToFileURL(playwright));

const ok = (good, text, ...why) => {
	console.log(`${good ? 'ok' : 'not ok'} ${text}`);
	if (!good)
		why.forEach((line) => console.log(`# ${JSON.stringify(line)}`));
};

const PRINT_LIMIT = 5000;
const data = mkdtempSync(join(tmpdir(), 'pevtrace-report-browser.'));
const browsers = [];
const launch = async (options) => {
	const browser = await start(options);
	browsers.push(browser);
	return browser;
};
const start = (options) => browserType.launchPersistentContext(mkdtempSync(join(data, 'u')), {
	executablePath: chromium, headless: true, viewport: { width: 1280, height: 900 },
	args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
	       '--disable-background-networking', '--disable-component-update', '--disable-sync'],
	...options,
});

// What a page says on the console, fails at, asks for.
const open = async (browser, path) => {
	const tab = await browser.newPage();
	tab.trouble = [];
	tab.asked = [];
	tab.on('console', (m) => tab.trouble.push(`console ${m.type()}: ${m.text()}`));
	tab.on('pageerror', (e) => tab.trouble.push(`error: ${e.message}`));
	tab.on('dialog', (d) => { tab.trouble.push(`dialog: ${d.message()}`); d.dismiss(); });
	tab.on('request', (r) => { if (!r.url().startsWith('data:')) tab.asked.push(r.url()); });
	await tab.goto(pathToFileURL(path).href);
	return tab;
};

const ready = (tab) => tab.waitForSelector('html[data-ready]');
const frames = (tab) => tab.evaluate(() => new Promise((done) =>
	requestAnimationFrame(() => requestAnimationFrame(done))));
// Until it is so in the page.  Playwright's own way to wait needs eval().
const until = async (tab, is, about) => {
	for (let i = 0; i < 600; i++) {
		if (await tab.evaluate(is, about))
			return;
		await new Promise((done) => setTimeout(done, 50));
	}
	throw new Error(`never came true: ${is}`);
};
const shownSpan = async (tab) => {
	await frames(tab);
	return tab.evaluate(() => view.to - view.from);
};

// Where a row is on the canvas, in the first lane that has it.
const placeOf = (tab, row) => tab.evaluate((n) => {
	const lane = lanes.findIndex((l) => l.items.includes(n)), s = size();
	byId('lanes').scrollTop = lane * LANE;
	return { x: Math.max(s.left + 1, xOf(rows.at[n], s)),
		 y: AXIS + lane * LANE - byId('lanes').scrollTop + LANE / 2 };
}, row);

const testZoom = async (tab) => {
	const lanes = tab.locator('#lanes'), all = await shownSpan(tab);
	await lanes.scrollIntoViewIfNeeded();
	const box = await lanes.boundingBox();
	await tab.mouse.move(box.x + box.width / 2, box.y + 50);
	await tab.mouse.wheel(0, -300);
	ok(await shownSpan(tab) === all, 'a wheel that only passes by does not zoom');
	await lanes.focus();
	await tab.mouse.move(box.x + box.width / 2, box.y + 40);
	await tab.mouse.wheel(0, -300);
	await until(tab, (span) => view.to - view.from < span, all);
	ok(true, 'with the focus on the timeline, the wheel zooms');
	await lanes.press('0');
	ok(await shownSpan(tab) === all, 'the key 0 shows all');
	for (const [what, act] of [
		['the key +', () => lanes.press('+')],
		['the button', () => tab.click('#zoom-in')]]) {
		await act();
		const near = await shownSpan(tab);
		ok(Math.abs(near / all - 0.5) < 0.01, `${what} zooms to a half`, near / all);
		await tab.click('#zoom-all');
	}
	const from = await tab.evaluate(() => byId('lanes').getBoundingClientRect().toJSON());
	await tab.mouse.move(from.x + 500, from.y + 40);
	await tab.mouse.down();
	await tab.mouse.move(from.x + 600, from.y + 40, { steps: 4 });
	await tab.mouse.up();
	const want = await tab.evaluate(() => 100 / size().plot * (traceEnd - traceStart));
	const drawn = await shownSpan(tab);
	ok(Math.abs(drawn / want - 1) < 0.05, 'dragging shows the range', drawn, want);
	await lanes.focus();
	const start = await tab.evaluate(() => view.from);
	await lanes.press('Shift+ArrowRight');
	await frames(tab);
	ok(await tab.evaluate((was) => view.from > was, start), 'Shift and an arrow move on');
	await lanes.press('0');
};

const testHover = async (tab) => {
	const row = await tab.evaluate(() => [...rows.kind].findIndex((_, i) =>
		kindName(i) === 'perf_event_open'));
	const at = await placeOf(tab, row);
	await frames(tab);
	const box = await tab.locator('#lanes').boundingBox();
	await tab.mouse.move(box.x + at.x, box.y + at.y);
	await until(tab, () => !byId('tip').hidden);
	const tip = await tab.locator('#tip').innerText();
	ok(/perf_event_open\(\{type=PERF_TYPE_/.test(tip), 'hovering tells the decoded call', tip);
	await tab.mouse.click(box.x + at.x, box.y + at.y);
	const text = await tab.locator('#inspected').innerText();
	ok(/perf_event_open\(\{\s*type=PERF_TYPE_/.test(text) && /of the dump/.test(text),
	   'a click shows the call in full', text);
	const title = await tab.locator('#inspected abbr', { hasText: /^PERF_TYPE_/ }).first()
		.getAttribute('title');
	ok(title.length > 5, 'its words are explained', title);
	await tab.mouse.move(5, 5);
};

const testKeys = async (tab) => {
	await tab.locator('#lanes').focus();
	await tab.keyboard.press('Home');
	await tab.evaluate(() => { selected = -1; laneFocus = 0; });
	await tab.keyboard.press('ArrowRight');
	const one = await tab.evaluate(() => selected);
	await tab.keyboard.press('ArrowRight');
	const two = await tab.evaluate(() => selected);
	const said = await tab.locator('#announced').textContent();
	ok(one >= 0 && two > one && said.length > 5, 'arrows go from call to call, which are said',
	   one, two, said);
	await tab.keyboard.press('Enter');
	ok(await tab.evaluate(() => document.activeElement.closest('tr')?.dataset.row === String(selected)),
	   'Enter goes to its row');
	await tab.locator('#lanes').focus();
	await tab.keyboard.press('ArrowDown');
	ok(await tab.evaluate(() => laneFocus) === 1, 'arrows go from lane to lane');
	await tab.keyboard.press('/');
	ok(await tab.evaluate(() => document.activeElement.id) === 'search', '/ goes to the search');
	await tab.evaluate(() => document.activeElement.blur());
	await tab.keyboard.press('Tab');
	const outline = await tab.evaluate(() => {
		const style = getComputedStyle(document.activeElement);
		return [style.outlineStyle, parseFloat(style.outlineWidth)];
	});
	ok(outline[0] !== 'none' && outline[1] >= 2, 'the focus is to be seen', outline);
};

const testFilter = async (tab) => {
	const results = () => tab.locator('#call-table tbody tr').evaluateAll((list) =>
		list.map((row) => [row.cells[2]?.textContent, row.cells[3]?.textContent]));
	const all = await tab.evaluate(() => found.length);
	await tab.fill('#search', 'enoent -close');
	await until(tab, (n) => found.length < n, all);
	const some = await results();
	ok(some.length && some.every(([call, result]) => /enoent/i.test(call + result) && !/close/.test(call)),
	   'the search finds, and leaves out', some.slice(0, 3));
	await tab.click('#clear');
	await tab.check('#by-failed');
	const failed = await results();
	ok(failed.length && failed.every(([, result]) => result.startsWith('= -1')),
	   'only failed ones', failed.slice(0, 3));
	await tab.uncheck('#by-failed');
	await tab.selectOption('#by-kind', 'perf_event_open');
	const opens = await results();
	ok(opens.length && opens.every(([call]) => call.startsWith('perf_event_open(')),
	   'one kind of call', opens.slice(0, 3));
	ok(await tab.evaluate(() => lanes.every((lane) =>
		[...lane.items].every((row) => kindName(row) === 'perf_event_open'))),
	   'the timeline shows what was found');
	await tab.selectOption('#by-event', '1');
	ok(await tab.evaluate(() => found.length) === 1, 'one event');
	await tab.fill('#search', 'nothing is called so');
	await until(tab, () => !found.length);
	await tab.click('#clear');
	ok(await tab.evaluate(() => found.length) === all, 'Clear shows all again');
};

// A filter is in the URL: a page that is opened with it shows the same, and links leave it alone.
const testUrl = async (browser) => {
	const tab = await open(browser, page);
	await ready(tab);
	await tab.fill('#search', 'enoent');
	await tab.check('#by-failed');
	await until(tab, () => location.hash.includes('search=enoent&failed=1'));
	const url = tab.url(), few = await tab.evaluate(() => found.length);
	const other = await browser.newPage();
	await other.goto(url);
	await ready(other);
	ok(few && await other.evaluate(() => found.length) === few &&
	   await other.inputValue('#search') === 'enoent' && await other.isChecked('#by-failed'),
	   'a filter is in the URL', url);
	await other.evaluate(() => { location.hash = '#events'; });
	ok(await other.evaluate(() => found.length) === few, 'a link to a part of the page keeps it');
	await other.click('#clear');
	await until(other, () => !location.hash.includes('search'));
	ok(true, 'without a filter there is none in the URL');
	await other.close();
	await tab.close();
};

// Of each failed call: how much of its lane is red there, and how many of the calls there failed.
const testRed = async (tab) => {
	const [judged, wrong] = await tab.evaluate(() => {
		const ctx = byId('canvas').getContext('2d'), s = size(), scale = devicePixelRatio, out = [];
		let n = 0;
		setView(traceStart, traceEnd);
		byId('lanes').scrollTop = 0;
		selected = -1;
		draw();
		const red = colors.failed.match(/\d+/g).slice(0, 3).map(Number);
		lanes.slice(0, 3).forEach((lane, i) => {
			for (const row of lane.failed) {
				const step = (view.to - view.from) / s.plot * BIN;
				const bin = Math.floor((rows.at[row] - view.from) / step);
				const inside = (r) => Math.floor((rows.at[r] - view.from) / step) === bin;
				const share = lane.failed.filter(inside).length / lane.items.filter(inside).length;
				const data = ctx.getImageData((s.left + bin * BIN + 1) * scale, (AXIS + i * LANE + 4) * scale,
							      1, (LANE - 8) * scale).data;
				let tall = 0;
				for (let k = 0; k < data.length; k += 4)
					tall += red.every((v, c) => Math.abs(data[k + c] - v) < 8);
				n += share < 1;
				if (rows.for[row] <= step && Math.abs(tall / scale - Math.max(2, share * (LANE - 8))) > 2)
					out.push([lane.label, row, share, tall]);
			}
		});
		return [n, out];
	});
	ok(judged && !wrong.length, 'a lane is red in proportion', judged, ...wrong);
};

// On paper everything is unfolded and light, and nothing sticks out.
const testPrint = async (browser) => {
	const tab = await open(browser, page);
	await ready(tab);
	await tab.setViewportSize({ width: 718, height: 1000 });
	await tab.emulateMedia({ media: 'print', colorScheme: 'dark' });
	const look = () => tab.evaluate(() => ({
		folded: document.querySelectorAll('details:not([open])').length,
		light: ['body', 'section', 'thead th', '.cards a'].every((name) =>
			getComputedStyle(document.querySelector(name)).backgroundColor.match(/[\d.]+/g)
				.every((value) => value > 200)),
		calls: byId('call-table').tBodies[0].rows.length, all: found.length,
		wide: [...document.querySelectorAll('section *')].filter((e) => e.checkVisibility() &&
			e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 60)),
		cut: [...document.querySelectorAll('.scroll, #lanes')].filter((e) => e.checkVisibility() &&
			getComputedStyle(e).overflow !== 'visible').length,
		bars: document.querySelectorAll('.bar, .unset').values().some((e) => e.checkVisibility()),
	}));
	await tab.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
	const paper = await look();
	ok(!paper.folded && paper.light && paper.calls === Math.min(paper.all, PRINT_LIMIT) &&
	   !paper.cut && !paper.bars, 'on paper: unfolded, light, all calls, no buttons', paper);
	ok(!paper.wide.length, 'on paper: nothing sticks out', ...paper.wide.slice(0, 5));
	await tab.evaluate(() => window.dispatchEvent(new Event('afterprint')));
	const screen = await look();
	ok(screen.folded > 0 && screen.calls <= 100, 'after printing: as before', screen);
	await tab.close();
};

// Of each text that is to be seen: the least ratio that WCAG 2 asks for at AA.
const contrast = (tab) => tab.evaluate(() => {
	const parse = (color) => (color.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
	const light = (c) => {
		const [r, g, b] = c.slice(0, 3).map((v) => v / 255)
			.map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const backOf = (element) => {
		for (let e = element; e; e = e.parentElement) {
			const c = parse(getComputedStyle(e).backgroundColor);
			if (c.length < 4 || c[3] > 0.99)
				return c;
		}
		return [255, 255, 255];
	};
	const bad = new Set();
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walker.nextNode()) {
		const element = walker.currentNode.parentElement, style = getComputedStyle(element);
		if (!walker.currentNode.data.trim() || /^(SCRIPT|STYLE|OPTION)$/.test(element.tagName) ||
		    !element.checkVisibility() || element.closest(':disabled'))
			continue;
		const svg = element instanceof SVGElement;
		const front = light(parse(svg ? style.fill : style.color)), back = light(backOf(element));
		const ratio = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
		if (ratio < 4.5)
			bad.add(`${element.tagName}.${element.className} ${ratio.toFixed(2)}`);
	}
	return [...bad];
});

const testTheme = async (tab) => {
	const back = () => tab.evaluate(() => getComputedStyle(document.body).backgroundColor);
	const seen = {};
	for (let i = 0; i < 3; i++) {
		await tab.click('#theme');
		seen[await tab.locator('#theme').innerText()] = await back();
		const bad = await contrast(tab);
		ok(!bad.length, `${await tab.locator('#theme').innerText()}: text stands out enough`, ...bad);
	}
	ok(Object.keys(seen).length === 3 && seen['Theme: light'] !== seen['Theme: dark'],
	   'the switch has light, dark and system', seen);
	await tab.emulateMedia({ colorScheme: 'dark' });
	const dark = await back();
	await tab.emulateMedia({ colorScheme: 'light' });
	ok(dark === seen['Theme: dark'] && await back() === seen['Theme: light'],
	   'the system decides where nobody else does', dark, seen);
};

const testStructure = async (tab) => {
	const wrong = await tab.evaluate(() => {
		const out = [], say = (text) => out.push(text);
		const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
		ids.filter((id, i) => ids.indexOf(id) !== i).forEach((id) => say(`two of id ${id}`));
		document.querySelectorAll('a[href^="#"]').forEach((a) => {
			if (!document.getElementById(a.getAttribute('href').slice(1)))
				say(`${a.getAttribute('href')} leads nowhere`);
		});
		document.querySelectorAll('section table').forEach((t) => {
			if (!t.caption && !t.closest('th'))
				say('a table without a caption');
			if (t.tHead)
				t.tHead.querySelectorAll('th:not([scope])').forEach(() => say('th without scope'));
		});
		document.querySelectorAll('section:not([aria-labelledby])').forEach(() => say('section without a name'));
		document.querySelectorAll('button').forEach((b) => {
			if (!b.textContent.trim() && !b.ariaLabel)
				say('button without a name');
		});
		document.querySelectorAll('input, select').forEach((i) => {
			if (!i.labels.length)
				say(`${i.id} has no label`);
		});
		for (const one of ['main', 'h1', 'header', 'nav', 'footer'])
			if (document.querySelectorAll(one).length !== 1)
				say(`not one ${one}`);
		return out;
	});
	ok(!wrong.length, 'landmarks, names, captions, links are in order', ...wrong.slice(0, 5));
	// the page follows its window in its own time
	await until(tab, () => document.documentElement.scrollWidth <= innerWidth).catch(() => {});
	const overflow = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
	ok(overflow <= 0, 'nothing sticks out', overflow);
};

const quiet = (tab, path, text) => {
	ok(!tab.trouble.length, `${text}: no error, nothing on the console`, ...tab.trouble);
	ok(tab.asked.length === 1 && tab.asked[0] === pathToFileURL(path).href,
	   `${text}: asks for nothing but itself`, ...tab.asked);
};

const testHostile = async (browser) => {
	const tab = await open(browser, hostile);
	await ready(tab);
	// everything that could show a name is made to
	await tab.evaluate(() => {
		for (let row = 0; row < rows.n; row++) {
			notify('select', row, 'timeline');
			fillTip({ row, records: new Map(), lane: lanes[0] });
		}
		lanes.forEach((lane) => fillTip({ row: -1, records: new Map(), lane }));
		document.querySelectorAll('details').forEach((d) => { d.open = true; });
	});
	await frames(tab);
	const inside = await tab.evaluate(() => ({
		scripts: document.scripts.length, images: document.images.length,
		hit: window.hit, frames: frames.length ?? 0,
		handlers: [...document.querySelectorAll('*')].filter((e) =>
			[...e.attributes].some((a) => /^on/i.test(a.name))).length,
		links: [...document.querySelectorAll('[href], [src]')].map((e) => e.getAttribute('href') ?? e.src)
			.filter((to) => !/^#[\w-]*$|^data:,$/.test(to)),
		text: document.body.innerText,
	})).catch((e) => ({ error: e.message }));
	ok(inside.scripts === 1 && inside.images === 0 && inside.hit === undefined &&
	   inside.handlers === 0 && !inside.links.length, 'hostile names stay text',
	   { ...inside, text: undefined });
	ok(inside.text.includes('<script>') && inside.text.includes('<img'), 'and can be read',
	   inside.text.slice(0, 300));
	ok(!/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069]/.test(inside.text),
	   'without control and direction characters');
	quiet(tab, hostile, 'hostile');
	await tab.close();
};

const testNoScript = async () => {
	const browser = await launch({ javaScriptEnabled: false });
	const tab = await open(browser, page);
	const rows = (id) => tab.locator(`${id} tbody tr`).count();
	ok(await rows('#call-table') > 5 && await rows('#events') > 0 && await rows('#counts') > 2,
	   'without scripts: tables of calls, events and counts');
	ok(await tab.locator('.attr .set').first().isVisible(), 'without scripts: the fields of an attr');
	ok(await tab.locator('#timeline .noscript').isVisible() && !await tab.locator('#lanes').isVisible() &&
	   !await tab.locator('#theme').isVisible(), 'without scripts: nothing that would not work');
	await tab.check('#unset');
	ok(await tab.locator('.attr .zero').first().isVisible(), 'without scripts: unset fields on demand');
	quiet(tab, page, 'without scripts');
	await browser.close();
};

try {
	const browser = await launch({});
	const tab = await open(browser, page);
	await ready(tab);
	await testStructure(tab);
	await testZoom(tab);
	await testHover(tab);
	await testKeys(tab);
	await testFilter(tab);
	await testRed(tab);
	await testTheme(tab);
	await tab.setViewportSize({ width: 390, height: 800 });
	await testStructure(tab);
	quiet(tab, page, 'page');
	await testUrl(browser);
	await testPrint(browser);
	await testHostile(browser);
	await browser.close();
	await testNoScript();
} catch (e) {
	ok(false, 'the browser does as it is told', e.stack ?? String(e));
} finally {
	await Promise.all(browsers.map((browser) => browser.close().catch(() => {})));
	rmSync(data, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
