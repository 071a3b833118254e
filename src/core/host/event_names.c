// SPDX-License-Identifier: LGPL-2.1-or-later
/* Parsing of an event's name: breakpoints, tracepoints, generic events, ... */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/abi/arch.h"
#include "core/abi/attr_member.h"
#include "core/host/event_reading.h"
#include "core/host/proc.h"
#include "core/lib/die.h"
#include "core/lib/scan_text.h"

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
	attr_get_configs(e->attr.bytes, sizeof(e->attr.bytes), words);
	pmu_term_set(t, v, words);
	set_configs(e, words);
	return true;
}

static void syntax_alias(struct event_spec *e, const struct pmu_alias *a)
{
	uint64_t words[ATTR_CONFIGS];

	attr_get_configs(e->attr.bytes, sizeof(e->attr.bytes), words);
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
	/* perf shortens sample_period and sample_freq */
	if (!f)
		f = syntax_is(word, len, "period") ? &attr->fields[ATTR_SAMPLE_PERIOD] :
		    syntax_is(word, len, "freq") ? &attr->fields[ATTR_SAMPLE_FREQ] :
		    attr_member(word, len);
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

/* Return why this machine's sysfs lists no PMUs; NULL if it does, or if the host is another one. */
static const char *pmus_missing(const struct reading *r)
{
	return strcmp(host_sysfs(r->host), "/sys") ? NULL : mounts_pmus_missing();
}

/* Return true, with an error, if the word names a known PMU that is absent. */
static bool syntax_absent_pmu(struct reading *r, const char *word, size_t len)
{
	const char *missing = pmus_missing(r);

	for (const struct pmu_desc *d = pmu_descs; d->name; d++) {
		if (!syntax_is(word, len, d->name))
			continue;
		if (missing)
			FAIL_AT(r, word, "the PMU '%s' (%s) cannot be found: %s", d->name,
				d->meaning, missing);
		else
			FAIL_AT(r, word, "no PMU '%s' (%s) on this machine; "
				"/sys/bus/event_source/devices lists those it has",
				d->name, d->meaning);
		return true;
	}
	return false;
}

/* "msr/tsc/u": the word of len bytes before the slash is a PMU or generic event. */
static bool syntax_with_terms(struct reading *r, size_t len)
{
	const char *word = r->c.at;
	const struct pmu *p = pmu_find(host_pmus(r->host), word, len);
	struct event_code code = { .type = p ? p->type : 0 };
	size_t first = r->list->n;
	struct event_spec *e;
	struct nearest n;

	if (!p && !event_word_generic(word, len, &code) && !event_word_cache(word, len, &code)) {
		if (syntax_absent_pmu(r, word, len))
			return false;
		nearest_start(&n, word, len);
		for (p = host_pmus(r->host); p; p = p->next)
			nearest_try(&n, p->name);
		event_words_near(&n);
		return syntax_unknown(r, word, "unknown PMU or event", &n, pmus_missing(r) ?:
				"/sys/bus/event_source/devices lists the PMUs of this machine");
	}
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

/* Breakpoints ---------------------------------------------------------------------- */

static bool breakpoint_number(struct reading *r, unsigned int index, const char *stop)
{
	const char *from = r->c.at, *end = from + syntax_reach(from, r->c.end, stop);

	if (from == end)
		return FAIL_AT(r, from, "%s is missing", attr->fields[index].name);
	r->first = r->list->n - 1;
	if (!syntax_set_member(r, &attr->fields[index], from, end))
		return false;
	r->c.at = end;
	return true;
}

/* Parse ":rw" after the address; return false if the letters are no accesses. */
static bool accesses(struct reading *r, uint64_t *type)
{
	const char *from = r->c.at + 1;
	size_t len = syntax_reach(from, r->c.end, ":,}");

	if (r->c.at == r->c.end || *r->c.at != ':' || !len)
		return false;
	for (size_t i = 0; i < len; i++) {
		uint64_t one = from[i] == 'r' ? HW_BREAKPOINT_R : from[i] == 'w' ?
			       HW_BREAKPOINT_W : from[i] == 'x' ? HW_BREAKPOINT_X : 0;

		if (!one || *type & one)
			return false;
		*type |= one;
	}
	r->c.at = from + len;
	return true;
}

/* Parse "mem:ADDR[/LEN][:ACCESS]". */
static bool breakpoint(struct reading *r)
{
	const struct event_code code = { .type = PERF_TYPE_BREAKPOINT };
	size_t at = r->list->n, first = r->first;
	struct event_spec *e = syntax_add(r, &code);
	uint64_t type = 0;
	bool len_given;

	if (!e)
		return false;
	e->given[ATTR_CONFIG] = false;
	r->c.at += strlen("mem:");
	if (!breakpoint_number(r, ATTR_BP_ADDR, "/:,}"))
		return false;
	len_given = r->c.at < r->c.end && *r->c.at == '/';
	if (len_given) {
		r->c.at++;
		if (!breakpoint_number(r, ATTR_BP_LEN, ":,}"))
			return false;
	}
	r->first = first;
	e = &r->list->events[at];
	if (!accesses(r, &type))
		type = HW_BREAKPOINT_RW;
	event_set(e, ATTR_BP_TYPE, type);
	if (!len_given)
		event_set(e, ATTR_BP_LEN, type == HW_BREAKPOINT_X ? arch_native()->word :
			  HW_BREAKPOINT_LEN_4);
	e->given[ATTR_BP_TYPE] = e->given[ATTR_BP_LEN] = true;
	return syntax_may_modify(r, at, false);
}

/* Tracepoints ------------------------------------------------------------------------ */

static int by_id(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b; /* the first member */

	return *x < *y ? -1 : *x > *y;
}

static bool syntax_add_tracepoint(struct reading *r, uint64_t id, const char *name)
{
	struct event_code code = { PERF_TYPE_TRACEPOINT, id };
	struct event_spec *e = syntax_add(r, &code);

	if (e)
		syntax_label(e, name, strlen(name));
	return e;
}

static bool no_tracepoint(struct reading *r, const char *at, const char *name, int error)
{
	struct nearest n;
	const char *other;
	uint64_t id;

	if (error == -EACCES || error == -EPERM)
		return FAIL_AT(r, at, "'%s' may be a tracepoint, but tracefs is not readable: "
			       "run as root, or as root run 'mount -o remount,mode=755 "
			       "/sys/kernel/tracing'", name);
	if (error == -ENODEV)
		return FAIL_AT(r, at, "unknown event '%s', and tracepoints cannot be listed: "
			       "%s", name, mounts_sys_missing() ?:
			       "tracefs is not mounted; as root run 'mount -t tracefs tracefs "
			       "/sys/kernel/tracing'");
	nearest_start(&n, name, strlen(name));
	for (size_t i = 0; (other = host_next_tracepoint(r->host, &i, &id));)
		nearest_try(&n, other);
	if (!*n.best) { /* try all names of the same system */
		nearest_start_any(&n, name, strlen(name));
		for (size_t i = 0; (other = host_next_tracepoint(r->host, &i, &id));)
			if (!strncmp(other, n.word, strcspn(n.word, ":") + 1))
				nearest_try(&n, other);
	}
	return syntax_unknown(r, at, "unknown event or tracepoint", &n,
		       "available_events in tracefs lists the tracepoints");
}

static bool pfm_event(struct reading *r, const char *name, size_t len)
{
	struct event_spec *e;
	char text[256];
	uint8_t bytes[sizeof(e->attr.bytes)] = { 0 };

	if (len >= sizeof(text))
		return false;
	memcpy(text, name, len);
	text[len] = '\0';
	if (!event_word_pfm(text, bytes, sizeof(bytes)))
		return false;
	e = syntax_add(r, NULL);
	if (!e)
		return false;
	memcpy(e->attr.bytes, bytes, sizeof(bytes));
	field_set(&attr->fields[ATTR_SIZE], attr->size, e->attr.bytes);
	e->given[ATTR_TYPE] = e->given[ATTR_CONFIG] = true;
	syntax_label(e, text, len);
	r->c.at = name + len;
	return true;
}

/* Parse a tracepoint or a pattern: "sched:sched_switch", "sched:*". */
static bool tracepoint(struct reading *r, size_t len)
{
	const char *from = r->c.at;
	size_t whole = len + 1 + syntax_reach(from + len + 1, r->c.end, ":,}/"), first = r->list->n;
	struct { uint64_t id; const char *name; } *found = NULL;
	char pattern[256] = "";
	const char *name;
	size_t n = 0;
	bool ok = true;
	uint64_t id;
	int error;

	if (whole == len + 1) /* libpfm4 parses "pmu::event" */
		whole = syntax_item_reach(r, from);
	if (whole >= sizeof(pattern))
		return FAIL_AT(r, from, "the name is too long for a tracepoint");
	memcpy(pattern, from, whole);
	if (strpbrk(pattern, "*?[")) {
		for (size_t at = 0; (name = host_next_tracepoint(r->host, &at, &id));) {
			if (fnmatch(pattern, name, 0))
				continue;
			found = xrealloc(found, (n + 1) * sizeof(*found));
			found[n].id = id;
			found[n++].name = name;
		}
		if (!n) /* no tracepoint has the name of a pattern: this finds what else is wrong */
			return no_tracepoint(r, from, pattern,
					     host_tracepoint_id(r->host, pattern, &id));
		qsort(found, n, sizeof(*found), by_id);
		for (size_t i = 0; ok && i < n; i++)
			ok = syntax_add_tracepoint(r, found[i].id, found[i].name);
		free(found);
	} else {
		error = host_tracepoint_id(r->host, pattern, &id);
		if (error)
			return pfm_event(r, from, syntax_item_reach(r, from)) ||
			       no_tracepoint(r, from, pattern, error);
		ok = syntax_add_tracepoint(r, id, pattern);
	}
	if (!ok)
		return false;
	r->c.at = from + whole;
	if (r->c.at < r->c.end && *r->c.at == '/')
		return FAIL_AT(r, r->c.at, "a tracepoint has no terms; write members after a "
			       "comma");
	return syntax_may_modify(r, first, false);
}

/* Names ------------------------------------------------------------------------------- */

/* Parse a raw event: "r1a8". */
static bool raw(const char *word, size_t len, struct event_code *out)
{
	const char *end = word + len, *at = word + 1;

	*out = (struct event_code){ .type = PERF_TYPE_RAW };
	if (len < 2 || *word != 'r')
		return false;
	if (len > 3 && at[0] == '0' && (at[1] | ' ') == 'x')
		at += 2;
	return end - at <= 16 && scan_number(&at, end, SCAN_HEX, &out->config) && at == end;
}

static bool unknown_event(struct reading *r, const char *word, size_t len)
{
	struct nearest n;
	const char *name, *colon;
	uint64_t id;

	if (pmu_find(host_pmus(r->host), word, len))
		return FAIL_AT(r, word, "%.*s is a PMU; write its terms after a slash, as in "
			       "%.*s/config=1/", (int)len, word, (int)len, word);
	if (syntax_absent_pmu(r, word, len))
		return false;
	if (syntax_is(word, len, "duration_time") || syntax_is(word, len, "user_time") ||
	    syntax_is(word, len, "system_time"))
		return FAIL_AT(r, word, "%.*s is measured by perf stat itself, not an event of the "
			       "kernel; task-clock:u and :k are similar", (int)len, word);
	nearest_start(&n, word, len);
	event_words_near(&n);
	attr_member_offer(&n);
	for (const struct pmu *p = host_pmus(r->host); p; p = p->next)
		for (size_t i = 0; i < p->naliases; i++)
			nearest_try(&n, p->aliases[i].name);
	for (size_t at = 0; (name = host_next_tracepoint(r->host, &at, &id));) {
		colon = strchr(name, ':');
		if (!colon || strcmp(colon + 1, n.word))
			continue;
		n.distance = 0;
		snprintf(n.best, sizeof(n.best), "%s", name);
	}
	if (*word == 'r' && !*n.best)
		return FAIL_AT(r, word, "unknown event '%s'; a raw event is r and up to "
			       "16 hexadecimal digits, as in r1a8", n.word);
	return syntax_unknown(r, word, "unknown event", &n, pmus_missing(r) ?:
			      "pevtrace list shows those of this machine");
}

/* Add the event that PMUs name in events/: "tsc". */
static bool alias_events(struct reading *r, const char *word, size_t len)
{
	size_t first = r->list->n;

	for (const struct pmu *p = host_pmus(r->host); p; p = p->next) {
		const struct pmu_alias *a = pmu_alias(p, word, len);
		struct event_code code = { .type = p->type };
		struct event_spec *e;

		if (!a)
			continue;
		e = syntax_add(r, &code);
		if (!e)
			return false;
		syntax_alias(e, a);
	}
	return r->list->n > first;
}

/* Parse type and config: "1:3". */
static bool by_numbers(struct reading *r, size_t len)
{
	const char *word = r->c.at, *config = word + len + 1;
	size_t n = syntax_reach(config, r->c.end, ":,}");
	struct text_cursor type = { .at = word, .end = word + len };
	struct text_cursor c = { .at = config, .end = config + n };
	uint64_t t, v;
	struct event_code code;

	if (!value_read(&type, NULL, &t) || t > UINT32_MAX)
		return FAIL_AT(r, word, "a type is a 32-bit number");
	if (!value_read(&c, NULL, &v))
		return FAIL_AT(r, config, "config: %s", c.why);
	code = (struct event_code){ (uint32_t)t, v };
	if (!syntax_add(r, &code))
		return false;
	r->c.at = config + n;
	return true;
}

/* Parse an event other than a breakpoint or a PMU's terms. */
static bool syntax_named(struct reading *r, size_t len)
{
	const char *word = r->c.at, *second = word + len + 1;
	bool colon = word + len < r->c.end && word[len] == ':';
	size_t first = r->list->n, triple = 0;
	struct event_code code;

	if (colon && scan_is_digit(*word)) {
		if (!by_numbers(r, len))
			return false;
		return syntax_may_modify(r, first, false);
	}
	/* "L1D:READ:MISS", as pevtrace writes it */
	if (colon && second < r->c.end) {
		triple = len + 1 + syntax_reach(second, r->c.end, ":,}");
		if (word + triple < r->c.end && word[triple] == ':')
			triple += 1 + syntax_reach(word + triple + 1, r->c.end, ":,}");
		if (!event_word_cache(word, triple, &code))
			triple = 0;
	}
	if (triple || event_word_generic(word, len, &code) ||
	    event_word_cache(word, len, &code) || raw(word, len, &code)) {
		if (!syntax_add(r, &code))
			return false;
	} else if (!alias_events(r, word, len)) {
		if (*r->c.why)
			return false;
		if (colon)
			return tracepoint(r, len);
		return pfm_event(r, word, syntax_item_reach(r, word)) ||
		       unknown_event(r, word, len);
	}
	r->c.at = word + (triple ? triple : len);
	return syntax_may_modify(r, first, false);
}

bool syntax_event(struct reading *r, size_t len)
{
	const char *from = r->c.at;
	char next = from + len < r->c.end ? from[len] : '\0';
	size_t first = r->list->n;
	bool ok;

	r->first = first;
	if (syntax_is(from, len, "mem") && next == ':')
		ok = breakpoint(r);
	else if (next == '/')
		ok = syntax_with_terms(r, len);
	else
		ok = syntax_named(r, len);
	r->first = first;
	for (size_t i = first; ok && i < r->list->n; i++)
		if (!*r->list->events[i].attr.label)
			syntax_label(&r->list->events[i], from, (size_t)(r->c.at - from));
	return ok;
}
