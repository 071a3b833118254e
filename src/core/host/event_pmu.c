// SPDX-License-Identifier: LGPL-2.1-or-later
/* Parsing of "pmu/term=value/": terms by the PMU's format. */
#include "core/abi/attr_member.h"
#include "core/host/event_reading.h"

static const struct layout *const attr = &layout_perf_event_attr;

/* Terms of a PMU ------------------------------------------------------------------ */

static bool unknown_term(struct reading *r, const struct pmu *p, const char *word, size_t len)
{
	struct nearest n;

	nearest_start(&n, word, len);
	for (size_t i = 0; p && i < p->nterms; i++)
		nearest_try(&n, p->terms[i].name);
	for (size_t i = 0; p && i < p->naliases; i++)
		nearest_try(&n, p->aliases[i].name);
	attr_member_offer(&n);
	return syntax_unknown(r, word, "unknown term, event or member", &n,
		       "a PMU's are in its directories format and events in "
		       "/sys/bus/event_source/devices");
}

static void set_configs(struct event_spec *e, const uint64_t *words)
{
	for (size_t i = 0; i < ATTR_CONFIGS; i++)
		if (words[i] != event_get(e, attr_configs[i]))
			event_set(e, attr_configs[i], words[i]);
}

static void get_configs(const struct event_spec *e, uint64_t *words)
{
	for (size_t i = 0; i < ATTR_CONFIGS; i++)
		words[i] = event_get(e, attr_configs[i]);
}

static bool format_term(struct reading *r, struct event_spec *e, const struct pmu_term *t,
			const char *from, const char *end)
{
	struct text_cursor c = { .at = from, .end = end };
	uint64_t words[ATTR_CONFIGS], v = 1;

	if (from && !value_read(&c, NULL, &v))
		return FAIL_AT(r, from, "%s: %s", t->name, c.why);
	if (v > pmu_term_max(t))
		return FAIL_AT(r, from ? from : r->c.at, "%s is at most 0x%llx", t->name,
			       (unsigned long long)pmu_term_max(t));
	get_configs(e, words);
	pmu_term_set(t, v, words);
	set_configs(e, words);
	return true;
}

void syntax_alias(struct event_spec *e, const struct pmu_alias *a)
{
	uint64_t words[ATTR_CONFIGS];

	get_configs(e, words);
	for (size_t i = 0; i < ATTR_CONFIGS; i++)
		words[i] |= a->config[i];
	set_configs(e, words);
}

/* Return the member that a term of a probe names, or NULL; no format directory has these. */
static const struct field *probe_member(const struct pmu *p, const char *word, size_t len)
{
	static const struct {
		const char *pmu, *term;
		unsigned int member;
	} terms[] = {
		{ "kprobe", "func", ATTR_KPROBE_FUNC }, { "kprobe", "addr", ATTR_KPROBE_ADDR },
		{ "kprobe", "offset", ATTR_PROBE_OFFSET }, { "uprobe", "path", ATTR_UPROBE_PATH },
		{ "uprobe", "offset", ATTR_PROBE_OFFSET },
	};

	for (size_t i = 0; p && i < sizeof(terms) / sizeof(*terms); i++)
		if (!strcmp(p->name, terms[i].pmu) && syntax_is(word, len, terms[i].term))
			return &attr->fields[terms[i].member];
	return NULL;
}

/* Return the member of a term, or NULL: perf shortens sample_period and sample_freq. */
static const struct field *term_member(const char *word, size_t len)
{
	if (syntax_is(word, len, "period"))
		return &attr->fields[ATTR_SAMPLE_PERIOD];
	if (syntax_is(word, len, "freq"))
		return &attr->fields[ATTR_SAMPLE_FREQ];
	return attr_member(word, len);
}

/* Parse a term of the last event: "event=0x3c", "tsc", "period=1000", "name=mine". */
static bool syntax_term(struct reading *r, const struct pmu *p, const char *end)
{
	const char *word = r->c.at, *value = NULL;
	size_t len = syntax_reach(word, end, "=");
	struct event_spec *e = &r->list->events[r->list->n - 1];
	size_t first = r->first;
	const struct pmu_alias *a;
	const struct pmu_term *t;
	const struct field *f;
	bool ok;

	if (word + len < end)
		value = word + len + 1;
	t = p ? pmu_term(p, word, len) : NULL;
	if (t)
		return format_term(r, e, t, value, end);
	a = p && !value ? pmu_alias(p, word, len) : NULL;
	if (a) {
		syntax_alias(e, a);
		return true;
	}
	if (value && syntax_is(word, len, "name")) {
		syntax_label(e, value, (size_t)(end - value));
		return true;
	}
	f = probe_member(p, word, len);
	if (!f)
		f = term_member(word, len);
	if (!f)
		return unknown_term(r, p, word, len);
	r->first = r->list->n - 1;
	ok = syntax_set_member(r, f, value, end);
	r->first = first;
	return ok;
}

/* Parse the terms after the first slash, and the second slash. */
static bool syntax_terms(struct reading *r, const struct pmu *p)
{
	const char *slash = r->c.at - 1;
	const char *end = r->c.at + syntax_reach(r->c.at, r->c.end, "/");

	if (end == r->c.end || *end != '/')
		return FAIL_AT(r, slash, "expected a second / after the terms");
	while (syntax_peek(r) && r->c.at < end) {
		const char *stop = r->c.at + syntax_reach(r->c.at, end, ",");

		if (!syntax_term(r, p, stop))
			return false;
		r->c.at = stop < end ? stop + 1 : end;
	}
	r->c.at = end + 1;
	return true;
}

bool syntax_absent_pmu(struct reading *r, const char *word, size_t len)
{
	for (const struct pmu_desc *d = pmu_descs; d->name; d++) {
		if (!syntax_is(word, len, d->name))
			continue;
		FAIL_AT(r, word, "no PMU '%s' (%s) on this machine; "
			"/sys/bus/event_source/devices lists those it has",
			d->name, d->meaning);
		return true;
	}
	return false;
}

static bool unknown_pmu(struct reading *r, const char *word, size_t len)
{
	struct nearest n;

	if (syntax_absent_pmu(r, word, len))
		return false;
	nearest_start(&n, word, len);
	for (const struct pmu *p = host_pmus(r->host); p; p = p->next)
		nearest_try(&n, p->name);
	event_words_near(&n);
	return syntax_unknown(r, word, "unknown PMU or event", &n,
		       "/sys/bus/event_source/devices lists the PMUs of this machine");
}

bool syntax_with_terms(struct reading *r, size_t len)
{
	const char *word = r->c.at;
	const struct pmu *p = pmu_find(host_pmus(r->host), word, len);
	struct event_code code = { .type = p ? p->type : 0 };
	size_t first = r->list->n;
	struct event_spec *e;

	if (!p && !event_word_generic(word, len, &code) && !event_word_cache(word, len, &code))
		return unknown_pmu(r, word, len);
	e = syntax_add(r, &code);
	if (!e)
		return false;
	e->given[ATTR_CONFIG] = false; /* terms may set it */
	r->c.at += len + 1;
	if (!syntax_terms(r, p))
		return false;
	if (r->c.at < r->c.end && *r->c.at == ':')
		r->c.at++;
	return !syntax_item_reach(r, r->c.at) || syntax_modifiers(r, first, false);
}
