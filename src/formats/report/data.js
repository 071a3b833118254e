// SPDX-License-Identifier: LGPL-2.1-or-later
// The trace, from the JSON element of the page, and helpers for its rows.
'use strict';

const byId = (id) => document.getElementById(id);

// Create an element: make('td', 'num', text).  Text of the dump is never parsed as HTML.
const make = (name, className, ...content) => {
	const element = document.createElement(name);
	if (className)
		element.className = className;
	element.append(...content);
	return element;
};

const trace = JSON.parse(byId('trace-data').textContent);
byId('trace-data').remove();

// Times are nanoseconds since the start of the trace.
const rows = trace.rows;
rows.at = Float64Array.from(rows.at);
for (let i = 1; i < rows.n; i++)
	rows.at[i] += rows.at[i - 1];
for (const column of ['for', 'kind', 'task', 'error', 'line', 'text', 'result', 'events'])
	rows[column] = Float64Array.from(rows[column]);
for (const list of trace.records) {
	list.at = Float64Array.from(list.at);
	for (let i = 1; i < list.at.length; i++)
		list.at[i] += list.at[i - 1];
}

const traceStart = Math.min(0, rows.n ? rows.at[0] : 0);
const traceEnd = Math.max(trace.end, traceStart + 1000);
const eventOf = new Map(trace.events.map((event) => [event.number, event]));

// Return the numbers of the events that a row concerns.
const eventLists = new Map();
const eventsOfRow = (row) => {
	const index = rows.events[row];
	if (!eventLists.has(index)) {
		const text = trace.texts[index];
		eventLists.set(index, text ? text.split(',').map(Number) : []);
	}
	return eventLists.get(index);
};

const kindName = (row) => trace.kinds[rows.kind[row]][0];
const kindClass = (row) => trace.kinds[rows.kind[row]][1];
const isCall = (row) => !['exec', 'exit', 'signal'].includes(kindName(row)) ||
	trace.texts[rows.result[row]] !== '';
const taskName = (task) => `${trace.tasks[task].name || 'task'}[${trace.tasks[task].tid}]`;
const textOf = (row) => trace.texts[rows.text[row]];
const resultOf = (row) => trace.texts[rows.result[row]];

// Return "12.345 ms", with a unit for span.
const formatTime = (ns, span = Math.abs(ns)) => {
	const [unit, size] = span >= 1e9 ? ['s', 1e9] : span >= 1e6 ? ['ms', 1e6] :
		span >= 1e3 ? ['\u00b5s', 1e3] : ['ns', 1];
	return `${(ns / size).toFixed(size === 1 ? 0 : 3)} ${unit}`;
};

// Return the first index of a sorted list whose value is at least value.
const lowerBound = (list, value, get = (i) => list[i]) => {
	let low = 0, high = list.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (get(middle) < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
};

// Events between the parts of the page: 'filter', 'select', 'theme'.
const listeners = {};
const listen = (name, listener) => (listeners[name] ??= []).push(listener);
const notify = (name, ...args) => (listeners[name] ?? []).forEach((listener) => listener(...args));
