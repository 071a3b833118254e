// SPDX-License-Identifier: LGPL-2.1-or-later
// Search, filters, the table of calls in pages, and the details of one call.

const PAGE = 100;
let found = Uint32Array.from({ length: rows.n }, (_, i) => i);
let matches = null;		// by row; null: all match
let selected = -1;
let shownPage = 0;

// Filter -----------------------------------------------------------------------

let lowerTexts = null;
const lowered = () => (lowerTexts ??= trace.texts.map((text) => text.toLowerCase()));

// Return a predicate on rows for a word of the search.
const wordTest = (word) => {
	const texts = lowered().map((text) => text.includes(word));
	const tasks = trace.tasks.map((_, i) => taskName(i).toLowerCase().includes(word));
	return (row) => texts[rows.text[row]] || texts[rows.result[row]] || tasks[rows.task[row]];
};

const searchTests = (text) => text.toLowerCase().split(/\s+/).filter(Boolean).map((word) => {
	const negated = word.length > 1 && word.startsWith('-') && !/^-\d/.test(word);
	const test = wordTest(negated ? word.slice(1) : word);
	return negated ? (row) => !test(row) : test;
});

const filterTests = () => {
	const kind = byId('by-kind').value, task = byId('by-task').value;
	const event = byId('by-event').value;
	const tests = searchTests(byId('search').value);
	if (kind)
		tests.push((row) => kindName(row) === kind);
	if (task)
		tests.push((row) => rows.task[row] === Number(task));
	if (event)
		tests.push((row) => eventsOfRow(row).includes(Number(event)));
	if (byId('by-failed').checked)
		tests.push((row) => rows.error[row] !== 0);
	return tests;
};

// The filter is in the URL: #search=enoent&call=poll&failed=1.
const FILTERS = { search: 'search', call: 'by-kind', task: 'by-task', event: 'by-event' };

const storeFilter = () => {
	const words = new URLSearchParams();
	for (const [name, id] of Object.entries(FILTERS))
		if (byId(id).value)
			words.set(name, byId(id).value);
	if (byId('by-failed').checked)
		words.set('failed', '1');
	if (String(words) || location.hash.includes('='))
		history.replaceState(null, '', `#${words}`);
};

// Set the filter to that of the URL, unless it leads to a part of the page.
const loadFilter = () => {
	if (!location.hash.includes('='))
		return;
	const words = new URLSearchParams(location.hash.slice(1));
	for (const [name, id] of Object.entries(FILTERS))
		byId(id).value = words.get(name) ?? '';
	byId('by-failed').checked = words.has('failed');
	applyFilter();
};

const applyFilter = () => {
	const tests = filterTests();
	const list = [];
	matches = tests.length ? new Uint8Array(rows.n) : null;
	for (let row = 0; row < rows.n; row++) {
		if (!tests.every((test) => test(row)))
			continue;
		list.push(row);
		if (matches)
			matches[row] = 1;
	}
	found = Uint32Array.from(list);
	storeFilter();
	showPage(0);
	notify('filter');
};

const fillSelects = () => {
	const kinds = new Map(), tasks = new Map();
	for (let row = 0; row < rows.n; row++) {
		kinds.set(kindName(row), (kinds.get(kindName(row)) ?? 0) + 1);
		tasks.set(rows.task[row], (tasks.get(rows.task[row]) ?? 0) + 1);
	}
	const option = (value, text) => {
		const element = make('option', '', text);
		element.value = value;
		return element;
	};
	for (const [kind, count] of [...kinds].sort())
		byId('by-kind').append(option(kind, `${kind} (${count})`));
	for (const [task, count] of [...tasks].sort((a, b) => a[0] - b[0]))
		byId('by-task').append(option(task, `${taskName(task)} (${count})`));
	for (const event of trace.events)
		byId('by-event').append(option(event.number, `#${event.number} ${event.name}`));
};

// The table ---------------------------------------------------------------------

const pages = () => Math.max(1, Math.ceil(found.length / PAGE));

const tableRow = (row) => {
	const line = make('tr', rows.error[row] ? 'failed' : '');
	const button = make('button', 'row', (rows.at[row] / 1e6).toFixed(6));
	button.type = 'button';
	button.setAttribute('aria-label', `Show details: ${kindName(row)} at ${formatTime(rows.at[row])}`);
	button.addEventListener('click', () => notify('select', row, 'table'));
	line.dataset.row = row;
	if (row === selected)
		line.setAttribute('aria-current', 'true');
	line.append(make('td', 'num', button), make('td', '', taskName(rows.task[row])),
		    make('td', 'call', make('code', '', textOf(row))),
		    make('td', 'call', make('code', '', resultOf(row))),
		    make('td', 'num', isCall(row) ? (rows.for[row] / 1e3).toFixed(3) : ''));
	return line;
};

const showPage = (number, most = PAGE) => {
	const body = byId('call-table').tBodies[0];
	shownPage = Math.max(0, Math.min(number, pages() - 1));
	const from = shownPage * PAGE;
	const part = found.subarray(from, from + most);
	body.replaceChildren(...Array.from(part, tableRow));
	if (!part.length)
		body.append(make('tr', '', Object.assign(make('td', '', 'No calls match.'), { colSpan: 5 })));
	byId('found').value = found.length === rows.n ? `${rows.n} calls and other activity` :
		`${found.length} of ${rows.n}`;
	byId('page').value = `${part.length ? from + 1 : 0} to ${from + part.length}`;
	byId('first').disabled = byId('previous').disabled = shownPage === 0;
	byId('next').disabled = byId('last').disabled = shownPage === pages() - 1;
};

const showRow = (row, by) => {
	const at = lowerBound(found, row);
	if (found[at] === row && Math.floor(at / PAGE) !== shownPage)
		showPage(Math.floor(at / PAGE));
	for (const line of byId('call-table').tBodies[0].rows) {
		const is = Number(line.dataset.row) === row;
		line.toggleAttribute('aria-current', is);
		if (is)
			line.setAttribute('aria-current', 'true');
		if (is && by !== 'table') {
			const box = byId('call-table').parentElement;
			box.scrollTop = line.offsetTop - box.clientHeight / 3;
		}
	}
};

// Details -------------------------------------------------------------------------

// Put each member of the outermost structure on its own line.
const pretty = (text) => {
	let depth = 0, out = '';
	const pieces = text.match(/"(?:[^"\\]|\\.)*"|\/\*.*?\*\/|[{}]|, |[^"/{},]+|./gs) ?? [];
	for (const piece of pieces) {
		if (piece === '{' && ++depth === 1)
			out += '{\n    ';
		else if (piece === '}' && --depth === 0)
			out += '\n}';
		else if (piece === ', ' && depth === 1)
			out += ',\n    ';
		else
			out += piece;
	}
	return out;
};

// Return text with meanings of its words as tooltips, and add the words to terms.  Lower-case
// words are members and calls if "=" or "(" follows; strings and comments are skipped.
const explained = (text, terms) => {
	const code = make('code');
	const pieces = text.matchAll(/("(?:[^"\\]|\\.)*"|\/\*.*?\*\/)|\w+|./gs);
	for (const { 0: piece, 1: quoted, index } of pieces) {
		const bare = /^[a-z]/.test(piece) && !'=('.includes(text[index + piece.length] ?? ' ');
		if (quoted || bare || !Object.hasOwn(trace.words, piece)) {
			code.append(piece);
			continue;
		}
		const abbr = make('abbr', '', piece);
		abbr.title = trace.words[piece];
		code.append(abbr);
		terms.set(piece, trace.words[piece]);
	}
	return code;
};

const eventLinks = (row) => {
	const item = make('li');
	eventsOfRow(row).forEach((number, i) => {
		const link = make('a', '', `#${number} ${eventOf.get(number)?.name ?? ''}`);
		link.href = `#event-${number}`;
		item.append(i ? ', ' : 'concerns ', link);
	});
	return item;
};

const inspect = (row) => {
	const terms = new Map(), pre = make('pre'), list = make('dl', 'terms');
	const facts = make('ul', 'meta');
	pre.append(explained(pretty(textOf(row)), terms), ' ', explained(resultOf(row), terms));
	facts.append(make('li', '', `at ${formatTime(rows.at[row])}`),
		     make('li', '', taskName(rows.task[row])));
	if (isCall(row))
		facts.append(make('li', '', `took ${formatTime(rows.for[row])}`));
	if (eventsOfRow(row).length)
		facts.append(eventLinks(row));
	facts.append(make('li', '', `line ${rows.line[row]} of the dump`));
	for (const [word, meaning] of terms)
		list.append(make('dt', '', make('code', '', word)), make('dd', '', meaning));
	byId('inspected').replaceChildren(facts, pre, list);
};

const startCalls = () => {
	let timer;
	fillSelects();
	byId('search').addEventListener('input', () => {
		clearTimeout(timer);
		timer = setTimeout(applyFilter, 120);
	});
	for (const id of ['by-kind', 'by-task', 'by-event', 'by-failed'])
		byId(id).addEventListener('change', applyFilter);
	byId('clear').addEventListener('click', () => {
		for (const id of ['search', 'by-kind', 'by-task', 'by-event'])
			byId(id).value = '';
		byId('by-failed').checked = false;
		applyFilter();
		byId('search').focus();
	});
	byId('first').addEventListener('click', () => showPage(0));
	byId('previous').addEventListener('click', () => showPage(shownPage - 1));
	byId('next').addEventListener('click', () => showPage(shownPage + 1));
	byId('last').addEventListener('click', () => showPage(pages() - 1));
	listen('select', (row, by) => {
		selected = row;
		showRow(row, by);
		inspect(row);
	});
	showPage(0);
};
