// SPDX-License-Identifier: LGPL-2.1-or-later
/* The word under the cursor; completion of arguments by their kind, whose words are those that the
   parsers suggest. */
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/abi/attr_member.h"
#include "core/abi/strings.h"
#include "core/host/event_words.h"
#include "core/host/host.h"
#include "core/host/pmu.h"
#include "core/host/proc.h"
#include "core/host/sysfile.h"
#include "core/lib/die.h"
#include "explain/lexicon.h"
#include "verbs/cli/complete_internal.h"
#include "verbs/cli/injections.h"
#include "verbs/cli/machine.h"
#include "verbs/cli/select.h"
#include "xlat/tables.h"

/* The word under the cursor ---------------------------------------------------------------- */

void complete_with(struct completion *c, const char *name, const char *help)
{
	if (strncmp(name, c->typed, strlen(c->typed)))
		return;
	printf("%s%s%s%s\n", buf_str(&c->head), name, help ? "\t" : "", help ? help : "");
}

static void complete_offered(void *ctx, const char *name)
{
	complete_with(ctx, name, NULL);
}

/* Move what is complete to the head: all up to the last of these separators. */
static void complete_skip(struct completion *c, const char *separators)
{
	const char *last = NULL;

	for (const char *p = c->typed; *p; p++)
		if (strchr(separators, *p))
			last = p + 1;
	if (!last)
		return;
	buf_add(&c->head, c->typed, (size_t)(last - c->typed));
	c->typed = last;
}

bool complete_key(struct completion *c, const char *key)
{
	size_t len = strlen(key);

	if (strncmp(c->typed, key, len))
		return false;
	buf_adds(&c->head, key);
	c->typed += len;
	return true;
}

void complete_list(struct completion *c, const char *list)
{
	char *words = verb_words(list), *save;

	complete_skip(c, "!,");
	for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
		complete_with(c, w, NULL);
	free(words);
}

void complete_start(struct completion *c, const char *word)
{
	*c = (struct completion){ .typed = word };
	nearest_start_list(&c->offers, complete_offered, c);
}

/* Events ---------------------------------------------------------------------------------- */

/* The place of the cursor in a list of events. */
struct cursor {
	const char *piece;	/* begin of the event, term or member */
	const char *pmu;	/* between the slashes of a PMU: its name; NULL elsewhere */
	size_t pmu_len;
	bool after_event;	/* a member may follow */
};

static struct cursor cursor_place(const char *text)
{
	struct cursor p = { .piece = text };

	for (; *text; text++) {
		if (*text == '/' && p.pmu) {
			p.pmu = NULL;
		} else if (*text == '/' && strncmp(p.piece, "mem:", 4) &&
			   !memchr(p.piece, '=', (size_t)(text - p.piece))) {
			p.pmu = p.piece;
			p.pmu_len = (size_t)(text - p.piece);
			p.piece = text + 1;
		} else if (strchr(",{}", *text)) {
			p.after_event = *text == ',';
			p.piece = text + 1;
		}
	}
	return p;
}

/* Complete the value of a member that the piece names before its equals sign. */
static bool member_value(struct completion *c, const char *piece)
{
	const char *equals = strchr(piece, '=');
	const struct field *f = equals ? attr_member(piece, (size_t)(equals - piece)) : NULL;

	if (!equals)
		return false;
	complete_skip(c, "=|");
	if (f && f->xlat)
		xlat_offer(f->xlat, true, &c->offers);
	return true;
}

/* Offer name and suffix as one word. */
static void complete_joined(struct completion *c, const char *name, const char *suffix,
			    const char *help)
{
	struct buf word = { 0 };

	buf_addf(&word, "%s%s", name, suffix);
	complete_with(c, buf_str(&word), help);
	buf_free(&word);
}

struct systems {
	struct completion *c;
	struct buf offered;	/* " sched: irq:" */
};

/*
 * Offer a tracepoint, or before the colon is typed its system, as there are thousands of
 * tracepoints.
 */
static void complete_tracepoint(void *ctx, uint64_t id, const char *name)
{
	struct systems *s = ctx;
	struct buf system = { 0 };

	(void)id;
	if (strchr(s->c->typed, ':')) {
		complete_with(s->c, name, NULL);
		return;
	}
	buf_addf(&system, " %.*s:", (int)strcspn(name, ":"), name);
	if (!strstr(buf_str(&s->offered), buf_str(&system))) {
		buf_adds(&s->offered, buf_str(&system));
		complete_with(s->c, buf_str(&system) + 1, NULL);
	}
	buf_free(&system);
}

/* Offer the members of the attr; one of a single bit requires no value. */
static void complete_members(struct completion *c)
{
	const struct layout *attr = &layout_perf_event_attr;

	for (size_t i = 0; i < attr->n; i++) {
		const struct field *f = &attr->fields[i];

		if (f->kind != FIELD_RESERVED)
			complete_joined(c, f->name, f->nbits == 1 ? "" : "=", f->meaning);
	}
}

/* Complete what follows the slash of a PMU; one that is on or off requires no value. */
static void complete_terms(struct completion *c, const struct pmu *p)
{
	for (size_t i = 0; i < p->nterms; i++)
		complete_joined(c, p->terms[i].name, pmu_term_max(&p->terms[i]) > 1 ? "=" : "",
				NULL);
	for (size_t i = 0; i < p->naliases; i++)
		complete_joined(c, p->aliases[i].name, "/", NULL);
}

static void complete_names(struct completion *c, struct host *h)
{
	struct systems s = { .c = c };

	event_words_near(&c->offers);
	for (const struct pmu *p = host_pmus(h); p; p = p->next)
		if (p->nterms || p->naliases)
			complete_joined(c, p->name, "/", NULL);
	host_each_tracepoint(h, complete_tracepoint, &s);
	buf_free(&s.offered);
}

/* Complete an event in the syntax of core/host/event_syntax.h. */
static void complete_event(struct completion *c)
{
	struct cursor p = cursor_place(c->typed);
	struct machine m;

	buf_add(&c->head, c->typed, (size_t)(p.piece - c->typed));
	c->typed = p.piece;
	if (!p.pmu && member_value(c, p.piece))
		return;
	machine_open(&m);
	if (p.pmu) {
		const struct pmu *pmu = pmu_find(host_pmus(m.host), p.pmu, p.pmu_len);

		if (pmu && !strchr(p.piece, '='))
			complete_terms(c, pmu);
	} else {
		complete_names(c, m.host);
		if (p.after_event)
			complete_members(c);
	}
	machine_close(&m);
}

/* Other kinds ----------------------------------------------------------------------------- */

static void complete_set(struct completion *c)
{
	complete_key(c, "!");
	complete_skip(c, ",");
	complete_key(c, "?");
	selection_offer_calls(&c->offers);
}

static void complete_signal(struct completion *c)
{
	complete_skip(c, "!,");
	selection_offer_signals(&c->offers);
	nearest_try(&c->offers, "all");
	nearest_try(&c->offers, "none");
}

/* Complete SET, then parts such as error=EINVAL behind colons.  fault: those of --fault. */
static void complete_parts(struct completion *c, bool fault)
{
	if (!strchr(c->typed, ':')) {
		complete_set(c);
		return;
	}
	complete_skip(c, ":");
	if (complete_key(c, "error="))
		error_offer(&c->offers);
	else if (complete_key(c, "signal="))
		selection_offer_signals(&c->offers);
	else if (complete_key(c, "when="))
		attr_member_offer(&c->offers);
	else
		injections_offer_parts(&c->offers, fault);
}

static void complete_injection(struct completion *c)
{
	complete_parts(c, false);
}

static void complete_fault(struct completion *c)
{
	complete_parts(c, true);
}

static int by_release(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void complete_one_release(struct completion *c, uint32_t release)
{
	struct buf text = { 0 };

	release_text(release, &text);
	complete_with(c, buf_str(&text), NULL);
	buf_free(&text);
}

/* Return the first release behind one that is known, from 3.0 on, or next. */
static uint32_t release_after(uint32_t known, uint32_t next)
{
	const uint32_t minor = 0x100, major = 0x10000;

	if (next < 3 * major)
		return next;
	return known / major == next / major ? known / minor * minor + minor : next / major * major;
}

/* Complete the releases of Linux up to the newest that changed the interface. */
static void complete_release(struct completion *c)
{
	const struct layout *attr = &layout_perf_event_attr;
	uint32_t *all = xcalloc(2 * RULE_COUNT + attr->n, sizeof(*all));
	size_t n = 0;

	for (size_t i = 0; i < RULE_COUNT; i++) {
		all[n++] = rule_descs[i].since;
		all[n++] = rule_descs[i].until;
	}
	for (size_t i = 0; i < attr->n; i++)
		all[n++] = attr->fields[i].since;
	qsort(all, n, sizeof(*all), by_release);
	for (size_t i = 0; i < n; i++) {
		if (!all[i] || (i && all[i] == all[i - 1]))
			continue;
		for (uint32_t r = release_after(i ? all[i - 1] : 0, all[i]); r < all[i]; r += 0x100)
			complete_one_release(c, r);
		complete_one_release(c, all[i]);
	}
	free(all);
}

static void complete_pid(struct completion *c)
{
	DIR *d = opendir("/proc");
	const char *name;
	char comm[64];

	complete_skip(c, ",");
	while (d && (name = sysfile_next(d)))
		if (*name >= '1' && *name <= '9' && proc_comm(atoi(name), comm, sizeof(comm)))
			complete_with(c, name, comm);
	if (d)
		closedir(d);
}

static void complete_user(struct completion *c)
{
	const struct passwd *user;

	while ((user = getpwent()))
		complete_with(c, user->pw_name, user->pw_gecos);
	endpwent();
}

/* Complete the name of a variable of this environment. */
static void complete_variable(struct completion *c)
{
	for (char *const *var = environ; *var; var++) {
		char *name = xstrndup(*var, strcspn(*var, "="));

		complete_with(c, name, NULL);
		free(name);
	}
}

static void complete_flags(struct completion *c)
{
	complete_skip(c, "|");
	xlat_offer(&xlat_perf_event_open_flags, false, &c->offers);
}

static void offer_term(void *ctx, const struct lexicon_entry *e)
{
	lexicon_offer(e, ctx);
}

static void complete_term(struct completion *c)
{
	if (*c->typed)
		lexicon_each(offer_term, &c->offers);
}

static void complete_claim(struct completion *c)
{
	for (const struct claim_desc *d = claim_descs; d->name; d++)
		complete_with(c, d->name, d->meaning);
}

static void complete_file(struct completion *c)
{
	printf(":file\t%s\n", buf_str(&c->head));
}

/* Complete "@FILE", which may be in place of the argument itself. */
static void complete_at_file(struct completion *c)
{
	if (complete_key(c, "@"))
		complete_file(c);
}

static void complete_directory(struct completion *c)
{
	printf(":directory\t%s\n", buf_str(&c->head));
}

/* The arguments of options and verbs by the names that --help gives them. */
static const struct {
	const char *kind;
	void (*complete)(struct completion *c); /* or: */
	void (*offer)(struct nearest *n);
} kinds[] = {
	{ "ARCH", .offer = arch_offer },
	{ "ATTR", .complete = complete_at_file },
	{ "CGROUP", .complete = complete_directory },
	{ "CLAIM", .complete = complete_claim },
	{ "DIR", .complete = complete_directory },
	{ "DUMP", .complete = complete_file },
	{ "DUMP:LINE", .complete = complete_file },
	{ "SET:DO", .complete = complete_injection },
	{ "ERRNO", .offer = error_offer },
	{ "EVENT", .complete = complete_event },
	{ "FILE", .complete = complete_file },
	{ "SET[:error=E]", .complete = complete_fault },
	{ "FLAGS", .complete = complete_flags },
	{ "NUMBER", .offer = ioctl_offer },
	{ "PATTERN", .complete = complete_event },
	{ "RECORDS", .complete = complete_at_file },
	{ "PID", .complete = complete_pid },
	{ "RELEASE", .complete = complete_release },
	{ "SET", .complete = complete_set },
	{ "SIGNAL", .complete = complete_signal },
	{ "TERM", .complete = complete_term },
	{ "USER", .complete = complete_user },
	{ "VAR=VALUE", .complete = complete_variable },
};

static void complete_kind(struct completion *c, const struct verb *v,
			  const struct verb *const *all, const char *kind)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].kind, kind) && kinds[i].offer)
			kinds[i].offer(&c->offers);
		else if (!strcmp(kinds[i].kind, kind))
			kinds[i].complete(c);
	if (v->own && !strcmp(v->own, kind)) {
		complete_skip(c, ",");
		v->offer(&c->offers);
	}
	for (; !strcmp(kind, "VERB") && *all; all++)
		complete_with(c, (*all)->name, (*all)->summary);
}

void complete_kinds(struct completion *c, const struct verb *v, const struct verb *const *all,
		    const char *names)
{
	char *words = xstrdup(names), *save;

	for (char *w = strtok_r(words, "|", &save); w; w = strtok_r(NULL, "|", &save))
		complete_kind(c, v, all, w);
	free(words);
}
