// SPDX-License-Identifier: LGPL-2.1-or-later
// Pointer and keys on the timeline: hit testing, the tooltip, navigation.

// Hit testing ----------------------------------------------------------------------------

const nearestRow = (lane, ns, reach) => {
	let best = -1, distance = reach;
	const at = lowerBound(lane.items, ns, (k) => rows.at[lane.items[k]]);
	for (let k = Math.max(0, at - 8); k < Math.min(lane.items.length, at + 3); k++) {
		const row = lane.items[k], end = rows.at[row] + rows.for[row];
		const off = ns < rows.at[row] ? rows.at[row] - ns : ns > end ? ns - end : 0;
		if (off < distance || (off === distance && best >= 0 && rows.for[row] < rows.for[best])) {
			best = row;
			distance = off;
		}
	}
	return best;
};

const recordsNear = (lane, ns, reach) => {
	const counts = new Map();
	if (!lane.records)
		return counts;
	const { at, type } = lane.records;
	for (let i = lowerBound(at, ns - reach); i < at.length && at[i] <= ns + reach; i++)
		counts.set(type[i], (counts.get(type[i]) ?? 0) + 1);
	return counts;
};

const hitTest = (x, y) => {
	const s = size(), lane = lanes[Math.floor((y - AXIS + byId('lanes').scrollTop) / LANE)];
	if (!lane || y < AXIS)
		return null;
	if (x < s.left)
		return { lane, row: -1, records: new Map() };
	const ns = nsOf(x, s), reach = NEAR * (view.to - view.from) / s.plot;
	return { lane, ns, row: nearestRow(lane, ns, reach), records: recordsNear(lane, ns, reach / 3) };
};

const countText = (counts) => [...counts].sort((a, b) => b[1] - a[1])
	.map(([type, n]) => `${n} ${trace.types[type] ?? type}`).join(', ');

const laneText = (lane) => {
	if (!lane.event)
		return `${lane.label}: ${lane.items.length} calls`;
	const event = lane.event;
	const total = lane.records ? `; ${lane.records.at.length} records` : '';
	return `#${event.number} ${event.name}: ${event.target}, ${event.mode}; ` +
		`${lane.items.length} calls${total}${event.flaws.map((text) => `; ${text}`).join('')}`;
};

const fillTip = (hit) => {
	const tip = byId('tip');
	tip.replaceChildren();
	if (hit.row >= 0) {
		const row = hit.row;
		tip.append(make('p', 'tip-head', make('strong', '', kindName(row)),
				` ${taskName(rows.task[row])}, at ${formatTime(rows.at[row])}` +
				(isCall(row) ? `, took ${formatTime(rows.for[row])}` : '')),
			   make('code', rows.error[row] ? 'failed' : '', `${textOf(row)} ${resultOf(row)}`));
	}
	if (hit.records.size)
		tip.append(make('p', 'tip-records', `records here: ${countText(hit.records)}`));
	if (hit.row < 0)
		tip.append(make('p', '', laneText(hit.lane)));
};

const showTip = (hit, x, y) => {
	const tip = byId('tip'), plot = byId('plot').getBoundingClientRect();
	if (!hit) {
		tip.hidden = true;
		return;
	}
	fillTip(hit);
	tip.hidden = false;
	const left = Math.max(4, Math.min(x + 14, plot.width - tip.offsetWidth - 4));
	tip.style.left = `${left}px`;
	tip.style.top = `${y + 18}px`;
};

// Pointer and keys ------------------------------------------------------------------------

const pointerPosition = (event) => {
	const box = byId('lanes').getBoundingClientRect();
	return { x: event.clientX - box.left, y: event.clientY - box.top };
};

const onMove = (event) => {
	const { x, y } = pointerPosition(event);
	if (drag) {
		drag.to = Math.max(size().left, x);
		if (drag.pan) {
			const by = (drag.last - x) / size().plot * (view.to - view.from);
			setView(view.from + by, view.to + by);
			drag.last = x;
		}
		byId('tip').hidden = true;
		redraw();
		return;
	}
	showTip(hitTest(x, y), x, y + byId('lanes').offsetTop);
};

const onDown = (event) => {
	const { x, y } = pointerPosition(event);
	if (event.button > 1 || x < size().left || x > byId('lanes').clientWidth)
		return;
	drag = { x, y, last: x, pan: event.shiftKey || event.button === 1 };
	byId('lanes').setPointerCapture(event.pointerId);
};

const onUp = () => {
	const was = drag;
	drag = null;
	if (!was)
		return;
	if (was.to === undefined || Math.abs(was.to - was.x) < 4) {
		const hit = hitTest(was.x, was.y);
		if (hit)
			laneFocus = lanes.indexOf(hit.lane);
		if (hit && hit.row >= 0)
			notify('select', hit.row, 'timeline');
	} else if (!was.pan) {
		const s = size();
		setView(nsOf(Math.min(was.x, was.to), s), nsOf(Math.max(was.x, was.to), s));
	}
	redraw();
};

const onWheel = (event) => {
	const { x } = pointerPosition(event), s = size();
	if (x < s.left || !(event.ctrlKey || document.activeElement === byId('lanes')))
		return;
	event.preventDefault();
	if (event.shiftKey)
		pan(Math.sign(event.deltaY || event.deltaX) * 0.15);
	else
		zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), nsOf(x, s));
};

const announce = (text) => {
	byId('announced').textContent = text;
};

const moveLane = (by) => {
	const box = byId('lanes');
	laneFocus = Math.max(0, Math.min(lanes.length - 1, laneFocus + by));
	const top = laneFocus * LANE, room = box.clientHeight - AXIS - LANE;
	box.scrollTop = Math.max(top - room, Math.min(box.scrollTop, top));
	announce(laneText(lanes[laneFocus]));
	redraw();
};

const moveItem = (by) => {
	const { items } = lanes[laneFocus] ?? { items: [] };
	if (!items.length)
		return;
	const here = selected >= 0 ? selected : -1;
	let at = lowerBound(items, here);
	at = by > 0 ? (items[at] === here ? at + 1 : at) : at - 1;
	at = Math.max(0, Math.min(items.length - 1, at));
	notify('select', items[at], 'timeline');
	announce(`${textOf(items[at])} ${resultOf(items[at])}`);
};

const keys = {
	'+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2), '0': () => setView(traceStart, traceEnd),
	'ArrowUp': () => moveLane(-1), 'ArrowDown': () => moveLane(1),
	'ArrowLeft': (event) => event.shiftKey ? pan(-0.2) : moveItem(-1),
	'ArrowRight': (event) => event.shiftKey ? pan(0.2) : moveItem(1),
	'Home': () => setView(traceStart, traceStart + view.to - view.from),
	'End': () => setView(traceEnd - view.to + view.from, traceEnd),
	'Enter': () => byId('call-table').querySelector('[aria-current] button')?.focus(),
	'Escape': () => { byId('tip').hidden = true; },
};

const onKey = (event) => {
	const act = keys[event.key];
	if (!act || event.ctrlKey || event.altKey || event.metaKey)
		return;
	event.preventDefault();
	act(event);
};

const onMap = (event) => {
	if (event.type === 'pointermove' && !event.buttons)
		return;
	const s = size(), x = event.clientX - byId('overview-map').getBoundingClientRect().left;
	const at = traceStart + (x - s.left) / s.plot * (traceEnd - traceStart);
	const half = (view.to - view.from) / 2;
	setView(at - half, at + half);
};

const startTimeline = () => {
	const box = byId('lanes'), map = byId('overview-map');
	makeLanes();
	filterLanes();
	readColors();
	fillLegend();
	byId('lanes-size').style.height = `${AXIS + lanes.length * LANE + 2}px`;
	box.style.height = `${Math.min(AXIS + lanes.length * LANE + 2, Math.max(320, innerHeight * 0.62))}px`;
	box.addEventListener('pointermove', onMove);
	box.addEventListener('pointerdown', onDown);
	box.addEventListener('pointerup', onUp);
	box.addEventListener('pointercancel', () => { drag = null; redraw(); });
	box.addEventListener('pointerleave', () => { byId('tip').hidden = true; });
	box.addEventListener('wheel', onWheel, { passive: false });
	box.addEventListener('keydown', onKey);
	box.addEventListener('scroll', redraw);
	box.addEventListener('focus', redraw);
	box.addEventListener('blur', redraw);
	box.addEventListener('dblclick', () => setView(traceStart, traceEnd));
	map.addEventListener('pointerdown', onMap);
	map.addEventListener('pointermove', onMap);
	byId('zoom-in').addEventListener('click', () => zoom(0.5));
	byId('zoom-out').addEventListener('click', () => zoom(2));
	byId('pan-left').addEventListener('click', () => pan(-0.3));
	byId('pan-right').addEventListener('click', () => pan(0.3));
	byId('zoom-all').addEventListener('click', () => setView(traceStart, traceEnd));
	new ResizeObserver(redraw).observe(box);
	listen('filter', () => { filterLanes(); redraw(); });
	listen('theme', () => { readColors(); redraw(); });
	listen('select', show);
	draw();
};
