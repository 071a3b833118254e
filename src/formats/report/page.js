// SPDX-License-Identifier: LGPL-2.1-or-later
// The page as a whole: elements that need scripts, the theme, the graph.

const THEMES = ['system', 'light', 'dark'];
const PRINTED = 5000;	// calls on paper

// Read, or set, the stored theme.  Pages from files may have no storage.
const stored = (set) => {
	try {
		if (set !== undefined)
			localStorage.setItem('pevtrace-theme', set);
		return localStorage.getItem('pevtrace-theme');
	} catch {
		return null;
	}
};

const setTheme = (theme) => {
	if (theme === 'system')
		delete document.documentElement.dataset.theme;
	else
		document.documentElement.dataset.theme = theme;
	byId('theme').textContent = `Theme: ${theme}`;
	notify('theme');
};

const startTheme = () => {
	let theme = THEMES.includes(stored()) ? stored() : 'system';
	setTheme(theme);
	byId('theme').addEventListener('click', () => {
		theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
		stored(theme);
		setTheme(theme);
	});
	matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => notify('theme'));
};

// Highlight the edges of the node under the pointer.
const startGraph = () => {
	const svg = document.querySelector('.graph svg');
	if (!svg)
		return;
	const mark = (node) => {
		svg.classList.toggle('marking', Boolean(node));
		for (const edge of svg.querySelectorAll('.edge'))
			edge.classList.toggle('marked', Boolean(node) &&
				(edge.dataset.a === node || edge.dataset.b === node));
	};
	for (const node of svg.querySelectorAll('.node')) {
		node.addEventListener('pointerenter', () => mark(node.dataset.node));
		node.addEventListener('pointerleave', () => mark(null));
		node.parentElement.addEventListener('focus', () => mark(node.dataset.node));
		node.parentElement.addEventListener('blur', () => mark(null));
	}
};

// Open the attr that a link points to.
const openTarget = () => {
	const target = location.hash && byId(location.hash.slice(1));
	if (target instanceof HTMLDetailsElement)
		target.open = true;
};

// On paper: all sections unfolded, all lanes and calls that the filter shows, light.
const startPrinting = () => {
	const box = byId('lanes'), folded = [];
	let theme, height;
	window.addEventListener('beforeprint', () => {
		theme = document.documentElement.dataset.theme;
		height = box.style.height;
		document.documentElement.dataset.theme = 'light';
		folded.push(...document.querySelectorAll('details:not([open])'));
		folded.forEach((details) => { details.open = true; });
		box.style.height = byId('lanes-size').style.height;
		readColors();
		draw();
		showPage(0, PRINTED);
	});
	window.addEventListener('afterprint', () => {
		if (theme)
			document.documentElement.dataset.theme = theme;
		else
			delete document.documentElement.dataset.theme;
		folded.splice(0).forEach((details) => { details.open = false; });
		box.style.height = height;
		readColors();
		draw();
		showPage(0);
	});
};

const start = () => {
	for (const element of document.querySelectorAll('.script'))
		element.hidden = false;
	for (const element of document.querySelectorAll('.noscript'))
		element.hidden = true;
	startTheme();
	startCalls();
	startTimeline();
	startGraph();
	startPrinting();
	openTarget();
	loadFilter();
	window.addEventListener('hashchange', () => { openTarget(); loadFilter(); });
	document.addEventListener('keydown', (event) => {
		if (event.key !== '/' || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName))
			return;
		event.preventDefault();
		byId('search').focus();
	});
	document.documentElement.dataset.ready = 'true';
};

start();
