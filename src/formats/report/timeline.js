// SPDX-License-Identifier: LGPL-2.1-or-later
// Lanes of tasks and events over time, on a canvas.

const LANE = 26, AXIS = 24, MAP = 34, NEAR = 6, BIN = 3, LEAST_SPAN = 100;
const view = { from: traceStart, to: traceEnd };
const lanes = [];
const colors = {};
let laneFocus = 0, drag = null, drawing = 0;

// Lanes -----------------------------------------------------------------------------

// Return the rows of a lane with the latest end up to each, and its failed rows.
const laneItems = (list) => {
	const items = Uint32Array.from(list), ends = new Float64Array(items.length);
	let last = -Infinity;
	items.forEach((row, i) => {
		last = Math.max(last, rows.at[row] + rows.for[row]);
		ends[i] = last;
	});
	return { items, ends, failed: items.filter((row) => rows.error[row]) };
};

// Order events by number, group members after their leader.
const eventsInOrder = () => {
	const place = (event) => event.leader || event.number;
	return [...trace.events].sort((a, b) => place(a) - place(b) || a.number - b.number);
};

const makeLanes = () => {
	const byTask = new Map(), byEvent = new Map();
	const put = (map, key, row) => map.has(key) ? map.get(key).push(row) : map.set(key, [row]);
	for (let row = 0; row < rows.n; row++) {
		put(byTask, rows.task[row], row);
		eventsOfRow(row).forEach((number) => put(byEvent, number, row));
	}
	const records = new Map(trace.records.map((list) => [list.event, list]));
	for (const [task, list] of [...byTask].sort((a, b) => a[0] - b[0]))
		lanes.push({ task, all: list, label: taskName(task), from: trace.tasks[task].born,
			     to: trace.tasks[task].gone });
	for (const event of eventsInOrder())
		lanes.push({ event, all: byEvent.get(event.number) ?? [],
			     label: `${event.leader ? '\u2514 ' : ''}#${event.number} ${event.name}`,
			     from: event.opened, to: event.closed,
			     records: records.get(event.number),
			     rings: trace.rings.filter((ring) => ring.event === event.number) });
};

const filterLanes = () => {
	for (const lane of lanes)
		Object.assign(lane, laneItems(matches ? lane.all.filter((row) => matches[row]) :
						       lane.all));
};

// Drawing ----------------------------------------------------------------------------

const classColors = ['open', 'ioctl', 'memory', 'poll', 'read', 'desc', 'pass', 'process', 'task'];

const readColors = () => {
	const probe = make('i');	// resolves light-dark()
	const names = ['text', 'muted', 'line', 'panel', 'accent', 'failed', 'life', 'enabled',
		       'ring', 'record', 'stripe', ...classColors.map((name) => `c-${name}`)];
	document.body.append(probe);
	for (const name of names) {
		probe.style.color = `var(--${name})`;
		colors[name] = getComputedStyle(probe).color;
	}
	probe.remove();
};

const prepare = (canvas, width, height) => {
	const scale = window.devicePixelRatio || 1;
	if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
		canvas.width = Math.round(width * scale);
		canvas.height = Math.round(height * scale);
		canvas.style.width = `${width}px`;
		canvas.style.height = `${height}px`;
	}
	const ctx = canvas.getContext('2d');
	ctx.setTransform(scale, 0, 0, scale, 0, 0);
	ctx.clearRect(0, 0, width, height);
	ctx.font = `12px ${getComputedStyle(document.body).fontFamily}`;
	ctx.textBaseline = 'middle';
	return ctx;
};

const size = () => {
	const box = byId('lanes');
	const width = box.clientWidth, height = box.clientHeight;
	const left = Math.round(Math.min(230, width * 0.34));
	return { width, height, left, plot: Math.max(1, width - left - 8) };
};

const xOf = (ns, s) => s.left + (ns - view.from) / (view.to - view.from) * s.plot;
const nsOf = (x, s) => view.from + (x - s.left) / s.plot * (view.to - view.from);

// Draw a bar from one time to another, clipped to the view.
const bar = (ctx, s, from, to, y, height, color) => {
	const x0 = Math.max(s.left, xOf(from, s)), x1 = Math.min(s.left + s.plot, xOf(to, s));
	if (x1 < s.left || x0 > s.left + s.plot)
		return;
	ctx.fillStyle = color;
	ctx.fillRect(x0, y, Math.max(1.5, x1 - x0), height);
};

// Visit the visible rows; of short rows that begin within one pixel, the first only.
const eachVisible = (items, ends, s, visit) => {
	const step = (view.to - view.from) / s.plot;
	let next = -Infinity;
	let i = ends ? lowerBound(ends, view.from) :
		lowerBound(items, view.from, (k) => rows.at[items[k]]);
	for (; i < items.length && rows.at[items[i]] <= view.to; i++) {
		const row = items[i];
		if (rows.at[row] < next && rows.for[row] < step)
			continue;
		visit(row);
		next = Math.max(rows.at[row], view.from) + step;
	}
};

// Draw failed calls red: long ones as bars, of short ones in each few pixels as many as failed of all.
const drawFailed = (ctx, s, { items, failed }, y, height) => {
	const step = (view.to - view.from) / s.plot * BIN;
	const before = (list, ns) => lowerBound(list, ns, (k) => rows.at[list[k]]);
	for (let i = before(failed, view.from), next; i < failed.length && rows.at[failed[i]] <= view.to; i = next) {
		const bin = Math.floor((rows.at[failed[i]] - view.from) / step);
		const from = view.from + bin * step, to = from + step;
		next = Math.max(before(failed, to), i + 1);
		const tall = Math.max(2, height * (next - i) / (before(items, to) - before(items, from)));
		ctx.fillStyle = colors.failed;
		ctx.fillRect(s.left + bin * BIN, y + height - Math.min(tall, height), BIN, Math.min(tall, height));
		for (const row of failed.subarray(i, next))
			if (rows.for[row] > step)
				bar(ctx, s, rows.at[row], rows.at[row] + rows.for[row], y, height, colors.failed);
	}
};

const drawItems = (ctx, s, lane, y, height) => {
	eachVisible(lane.items, lane.ends, s, (row) =>
		bar(ctx, s, rows.at[row], rows.at[row] + rows.for[row], y, height,
		    colors[`c-${kindClass(row)}`]));
	drawFailed(ctx, s, lane, y, height);
};

// Draw the number of records in each two pixels, on a logarithmic scale.
const drawRecords = (ctx, s, list, y, height) => {
	const step = (view.to - view.from) / s.plot * 2;
	let i = lowerBound(list.at, view.from);
	ctx.fillStyle = colors.record;
	while (i < list.at.length && list.at[i] <= view.to) {
		const bin = Math.floor((list.at[i] - view.from) / step);
		const end = lowerBound(list.at, view.from + (bin + 1) * step);
		const tall = Math.min(1, (1 + Math.log2(Math.max(1, end - i))) / 6) * height;
		ctx.fillRect(s.left + bin * 2, y + height - tall, 1.6, tall);
		i = Math.max(end, i + 1);
	}
};

const drawLane = (ctx, s, lane, y) => {
	if (lane.event) {
		bar(ctx, s, lane.from, lane.to, y + 4, LANE - 8, colors.life);
		for (let i = 0; i < lane.event.enabled.length; i += 2)
			bar(ctx, s, lane.event.enabled[i], lane.event.enabled[i + 1], y + 4,
			    LANE - 8, colors.enabled);
		if (lane.records)
			drawRecords(ctx, s, lane.records, y + 4, LANE - 8);
		for (const ring of lane.rings) {
			const lost = lane.event.lost && Math.max(1, lane.event.lost * (LANE - 8));
			bar(ctx, s, ring.from, ring.to, y + LANE - 4, 2, colors.ring);
			bar(ctx, s, ring.from, ring.to, y + LANE - 4 - lost, lost, colors.failed);
		}
		drawItems(ctx, s, lane, y + 4, (LANE - 8) / 2);
	} else {
		bar(ctx, s, lane.from, lane.to, y + LANE / 2 - 1, 2, colors.muted);
		drawItems(ctx, s, lane, y + 4, LANE - 8);
	}
};

const drawLabel = (ctx, s, lane, y) => {
	let text = lane.label;
	const room = s.left - 16;
	if (ctx.measureText(text).width > room) {
		while (text.length > 1 && ctx.measureText(`${text}\u2026`).width > room)
			text = text.slice(0, -1);
		text += '\u2026';
	}
	ctx.fillStyle = lane.event?.dead ? colors.failed : lane.event?.probe ? colors.muted : colors.text;
	ctx.fillText(text, 8, y + LANE / 2);
};

// Return round times for the grid, about one in 110 pixels.
const ticks = (s) => {
	const rough = (view.to - view.from) / Math.max(3, s.plot / 110);
	const power = 10 ** Math.floor(Math.log10(rough));
	const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough) ?? 10 * power;
	const first = Math.ceil(view.from / step);
	return Array.from({ length: Math.max(0, Math.floor(view.to / step) - first + 1) },
			  (_, i) => (first + i) * step);
};

const drawGrid = (ctx, s) => {
	ctx.fillStyle = colors.line;
	for (const at of ticks(s))
		ctx.fillRect(Math.round(xOf(at, s)), AXIS - 4, 1, s.height);
};

const drawAxis = (ctx, s) => {
	ctx.fillStyle = colors.panel;
	ctx.fillRect(0, 0, s.width, AXIS);
	ctx.textAlign = 'center';
	for (const at of ticks(s)) {
		const x = xOf(at, s);
		ctx.fillStyle = colors.line;
		ctx.fillRect(Math.round(x), AXIS - 4, 1, 4);
		ctx.fillStyle = colors.muted;
		if (x > s.left + 20 && x < s.left + s.plot - 20)
			ctx.fillText(formatTick(at, view.to - view.from), x, AXIS / 2);
	}
	ctx.textAlign = 'left';
	ctx.fillStyle = colors.muted;
	ctx.fillText('task, event', 8, AXIS / 2);
};

const formatTick = (ns, span) => {
	const [unit, sized] = span >= 2e9 ? ['s', 1e9] : span >= 2e6 ? ['ms', 1e6] :
		span >= 2e3 ? ['\u00b5s', 1e3] : ['ns', 1];
	return `${Number((ns / sized).toFixed(3))} ${unit}`;
};

const drawMarked = (ctx, s, row, color) => {
	const box = byId('lanes');
	lanes.forEach((lane, i) => {
		const y = AXIS + i * LANE - box.scrollTop;
		const mine = lane.event ? eventsOfRow(row).includes(lane.event.number) :
			lane.task === rows.task[row];
		if (!mine || y < AXIS - LANE || y > s.height)
			return;
		const x = Math.max(s.left, xOf(rows.at[row], s));
		const end = Math.min(s.left + s.plot, xOf(rows.at[row] + rows.for[row], s));
		if (end < s.left || x > s.left + s.plot)
			return;
		ctx.strokeStyle = color;
		ctx.lineWidth = 2;
		ctx.strokeRect(x - 2, y + 2, Math.max(4, end - x + 4), LANE - 4);
	});
};

const draw = () => {
	const box = byId('lanes'), s = size();
	const ctx = prepare(byId('canvas'), s.width, s.height);
	const first = Math.floor(box.scrollTop / LANE);
	const last = Math.min(lanes.length, first + Math.ceil(s.height / LANE) + 1);
	drawing = 0;
	drawGrid(ctx, s);
	for (let i = first; i < last; i++) {
		const y = AXIS + i * LANE - box.scrollTop;
		if (i === laneFocus && box === document.activeElement) {
			ctx.fillStyle = colors.stripe;
			ctx.fillRect(0, y, s.width, LANE);
		}
		ctx.fillStyle = colors.line;
		ctx.fillRect(0, y + LANE - 1, s.width, lanes[i + 1]?.event && !lanes[i].event ? 2 : 0.5);
		drawLane(ctx, s, lanes[i], y);
		drawLabel(ctx, s, lanes[i], y);
	}
	drawAxis(ctx, s);
	if (selected >= 0)
		drawMarked(ctx, s, selected, colors.accent);
	if (drag && drag.to !== undefined && !drag.pan) {
		ctx.fillStyle = colors.accent;
		ctx.globalAlpha = 0.18;
		ctx.fillRect(Math.min(drag.x, drag.to), AXIS, Math.abs(drag.to - drag.x), s.height);
		ctx.globalAlpha = 1;
	}
	drawMap();
	byId('range').value = `${formatTime(view.from)} - ${formatTime(view.to)} ` +
		`(${formatTime(view.to - view.from)})`;
};

const redraw = () => {
	drawing ||= requestAnimationFrame(draw);
};

// Draw the overview of the whole trace, with the view marked.
const drawMap = () => {
	const s = size(), ctx = prepare(byId('overview-map'), s.width, MAP);
	const span = traceEnd - traceStart, bins = Math.floor(s.plot / 3);
	let most = 1;
	const counts = new Array(bins).fill(0);
	for (let bin = 0, i = 0; bin < bins; bin++) {
		const end = bin === bins - 1 ? found.length :
			lowerBound(found, traceStart + span * (bin + 1) / bins, (k) => rows.at[found[k]]);
		counts[bin] = end - i;
		most = Math.max(most, end - i);
		i = end;
	}
	ctx.fillStyle = colors.muted;
	counts.forEach((n, bin) => {
		const tall = n ? Math.max(2, Math.log2(n + 1) / Math.log2(most + 1) * (MAP - 8)) : 0;
		ctx.fillRect(s.left + bin * 3, MAP - 2 - tall, 2, tall);
	});
	ctx.fillText('whole trace', 8, MAP / 2);
	const x0 = s.left + (view.from - traceStart) / span * s.plot;
	const x1 = s.left + (view.to - traceStart) / span * s.plot;
	ctx.fillStyle = colors.accent;
	ctx.globalAlpha = 0.14;
	ctx.fillRect(x0, 0, Math.max(2, x1 - x0), MAP);
	ctx.globalAlpha = 1;
	ctx.fillRect(x0, 0, 2, MAP);
	ctx.fillRect(Math.max(x0 + 2, x1 - 2), 0, 2, MAP);
};

// Navigation --------------------------------------------------------------------------

const setView = (from, to) => {
	const span = Math.min(traceEnd - traceStart, Math.max(LEAST_SPAN, to - from));
	const middle = (from + to) / 2;
	view.from = Math.max(traceStart, Math.min(middle - span / 2, traceEnd - span));
	view.to = view.from + span;
	redraw();
};

// A factor below 1 zooms in; the time ns keeps its position.
const zoom = (factor, ns = (view.from + view.to) / 2) => {
	const span = Math.min(traceEnd - traceStart,
			      Math.max(LEAST_SPAN, (view.to - view.from) * factor));
	const part = (ns - view.from) / (view.to - view.from);
	setView(ns - span * part, ns + span * (1 - part));
};

const pan = (part) => {
	const by = (view.to - view.from) * part;
	setView(view.from + by, view.to + by);
};

const show = (row) => {
	if (rows.at[row] < view.from || rows.at[row] > view.to) {
		const span = view.to - view.from;
		setView(rows.at[row] - span / 2, rows.at[row] + span / 2);
	}
	redraw();
};

const fillLegend = () => {
	const names = { open: 'open', ioctl: 'ioctl', memory: 'map', poll: 'wait', read: 'read',
			desc: 'close, dup', pass: 'pass descriptor', process: 'fork, exec', task: 'exec, exit, signal' };
	const used = new Set(trace.kinds.filter((_, kind) => rows.kind.includes(kind)).map((kind) => kind[1]));
	const entry = (className, text) =>
		byId('legend').append(make('li', '', make('span', `key ${className}`), text));
	for (const name of classColors)
		if (used.has(name))
			entry(`key-${name}`, names[name]);
	entry('key-failed', 'failed or lost, in proportion');
	entry('key-life', 'event open');
	entry('key-enabled', 'event enabled');
	if (trace.rings.length)
		entry('key-ring', 'ring mapped');
	if (trace.records.length)
		entry('key-record', 'records (taller: more)');
};
