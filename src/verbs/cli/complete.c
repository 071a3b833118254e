// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Completion of command lines, from the same tables as --help.  The scripts in completion/
 * only pass the words to pevtrace help --complete and its answer to the shell.
 */
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/abi/attr_member.h"
#include "core/abi/strings.h"
#include "core/host/event_words.h"
#include "core/host/pmu.h"
#include "core/lib/die.h"
#include "explain/lexicon.h"
#include "verbs/cli/injections.h"
#include "verbs/cli/machine.h"
#include "verbs/cli/select.h"
#include "xlat/tables.h"

/* The word under the cursor ---------------------------------------------------------------- */

struct completion {
	struct buf head;	/* the part of it that is complete: "--trace=open," */
	const char *typed;	/* the rest; candidates begin with it */
	struct nearest offers;	/* prints what is offered to it */
};

/* Print a candidate if the word may go on so.  help may be NULL. */
static void complete_with(struct completion *c, const char *name, const char *help)
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

/* Move a leading word such as "trace=" to the head; return whether the text begins with it. */
static bool complete_key(struct completion *c, const char *key)
{
	size_t len = strlen(key);

	if (strncmp(c->typed, key, len))
		return false;
	buf_adds(&c->head, key);
	c->typed += len;
	return true;
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
static void complete_tracepoint(struct systems *s, const char *name)
{
	struct buf system = { 0 };

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

/* Complete an event in the syntax of core/host/event_syntax.h. */
static void complete_event(struct completion *c)
{
	struct cursor p = cursor_place(c->typed);
	const char *equals = strchr(p.piece, '=');
	const struct layout *attr = &layout_perf_event_attr;
	const struct field *f;
	struct machine m;

	buf_add(&c->head, c->typed, (size_t)(p.piece - c->typed));
	c->typed = p.piece;
	if (!p.pmu && equals) {
		/* the value of a member */
		f = attr_member(p.piece, (size_t)(equals - p.piece));
		complete_skip(c, "=|");
		if (f && f->xlat)
			xlat_offer(f->xlat, true, &c->offers);
		return;
	}
	machine_open(&m);
	if (p.pmu) {
		const struct pmu *pmu = pmu_find(host_pmus(m.host), p.pmu, p.pmu_len);

		/* a term that is on or off requires no value */
		for (size_t i = 0; pmu && !equals && i < pmu->nterms; i++)
			complete_joined(c, pmu->terms[i].name,
					pmu_term_max(&pmu->terms[i]) > 1 ? "=" : "", NULL);
		for (size_t i = 0; pmu && !equals && i < pmu->naliases; i++)
			complete_joined(c, pmu->aliases[i].name, "/", NULL);
	} else {
		struct systems s = { .c = c };
		const char *name;
		uint64_t id;

		event_words_near(&c->offers);
		for (const struct pmu *pmu = host_pmus(m.host); pmu; pmu = pmu->next)
			if (pmu->nterms || pmu->naliases)
				complete_joined(c, pmu->name, "/", NULL);
		for (size_t at = 0; (name = host_next_tracepoint(m.host, &at, &id));)
			complete_tracepoint(&s, name);
		buf_free(&s.offered);
		/* a member of a single bit requires no value */
		for (f = attr->fields; p.after_event && f < attr->fields + attr->n; f++)
			if (f->kind != FIELD_RESERVED)
				complete_joined(c, f->name, f->nbits == 1 ? "" : "=", f->meaning);
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

static void complete_task(struct completion *c)
{
	for (const struct learn_task_desc *d = learn_task_descs; d->name; d++)
		complete_with(c, d->name, d->title);
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
	{ "TASK", .complete = complete_task },
	{ "TERM", .complete = complete_term },
	{ "USER", .complete = complete_user },
	{ "VAR=VALUE", .complete = complete_variable },
};

/* Complete an argument of these kinds, separated by |, as verb_option.arg names them. */
static void complete_kinds(struct completion *c, const struct verb *v,
			   const struct verb *const *all, const char *names)
{
	char *words = xstrdup(names), *save;

	for (char *w = strtok_r(words, "|", &save); w; w = strtok_r(NULL, "|", &save)) {
		/* beside files, hundreds of events are too many */
		if (!strcmp(w, "EVENT") && strchr(names, '|') && !*c->typed)
			continue;
		for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
			if (!strcmp(kinds[i].kind, w) && kinds[i].offer)
				kinds[i].offer(&c->offers);
			else if (!strcmp(kinds[i].kind, w))
				kinds[i].complete(c);
		if (v->own && !strcmp(v->own, w)) {
			complete_skip(c, ",");
			v->offer(&c->offers);
		}
		for (size_t i = 0; !strcmp(w, "VERB") && all[i]; i++)
			complete_with(c, all[i]->name, all[i]->summary);
	}
	free(words);
}

/* The command line ------------------------------------------------------------------------ */

/* A command line up to the word under the cursor. */
struct line {
	const struct verb *v;
	const struct verb *const *all;
	const struct verb_option *wants; /* the option whose argument comes next, or NULL */
	const struct verb_option *operands; /* the option that says what operands are, or NULL */
	bool ended;		/* by --: no options follow */
	bool command;		/* an option says that operands are a command */
};

/*
 * Return the option in a word of short options that has an argument, and in *arg the argument
 * in the word, which is empty if it is the next word; NULL if none has one.
 */
static const struct verb_option *short_option(const struct verb *v, const char *word,
					      const char **arg)
{
	for (const char *key = word + 1; *key; key++) {
		const struct verb_option *o = verb_option_of(v, key, 1);

		if (!o || !o->arg || o->optional)
			continue;
		*arg = key + 1;
		return o;
	}
	return NULL;
}

/* Return whether an operand is a command: of some verbs only behind --. */
static bool takes_command(const struct line *l)
{
	return l->v->command || l->command ||
	       (l->ended && l->v->operand && strstr(l->v->operand, "COMMAND"));
}

/* Read a word before the cursor. Return whether a command begins with it. */
static bool read_word(struct line *l, const char *word)
{
	const char *arg;

	if (l->wants) {
		l->wants = NULL;
	} else if (!l->ended && !strcmp(word, "--")) {
		l->ended = true;
	} else if (l->ended || *word != '-') {
		return takes_command(l);
	} else if (word[1] == '-') {
		const struct verb_option *o = verb_option_of(l->v, word + 2,
							     strcspn(word + 2, "="));

		if (o && o->arg && !o->optional && !strchr(word, '='))
			l->wants = o;
		if (o && o->operand)
			l->operands = o;
		l->command |= o && o->command;
	} else {
		l->wants = short_option(l->v, word, &arg);
		if (l->wants && *arg)
			l->wants = NULL;
	}
	return false;
}

/* Complete an argument of the option; of -e, NAME=ARG of another one, or ARG of -e trace=. */
static void complete_argument(struct completion *c, const struct line *l,
			      const struct verb_option *o)
{
	struct verb_at at = { 0 };
	char *words, *save;
	bool named = false;

	if (!o->exprs && o->words) {
		words = verb_words(o->words);
		complete_skip(c, "!,");
		for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
			complete_with(c, w, NULL);
		free(words);
		return;
	}
	if (!o->exprs) {
		complete_kinds(c, l->v, l->all, o->arg);
		return;
	}
	while (!named && (o = verb_next(l->v, &at))) {
		struct buf name = { 0 };

		buf_addf(&name, "%s=", o->name);
		named = o->expr && complete_key(c, buf_str(&name));
		buf_free(&name);
	}
	if (!named && !strchr(c->typed, ','))
		verb_offer_exprs(l->v, &c->offers);
	complete_argument(c, l, named ? o : verb_option_of(l->v, "trace", strlen("trace")));
}

/* Complete a word that begins with a dash: the name of an option, or its argument. */
static void complete_option(struct completion *c, const struct line *l)
{
	const char *word = c->typed, *equals = strchr(word, '='), *arg;
	const struct verb_option *o;

	if (word[1] != '-') {
		o = short_option(l->v, word, &arg);
	} else {
		o = equals ? verb_option_of(l->v, word + 2, (size_t)(equals - word - 2)) : NULL;
		arg = equals ? equals + 1 : NULL;
	}
	if (!o || !o->arg || (word[1] != '-' && !*arg)) {
		struct verb_at at = { 0 };

		while ((o = verb_next(l->v, &at))) {
			const char key[] = { '-', o->key, '\0' };
			struct buf name = { 0 };

			if (o->name)
				buf_addf(&name, "--%s%s", o->name,
					 o->arg && !o->optional ? "=" : "");
			/* offered where the long one does not begin like the word */
			if (o->key && (!o->name || !strcmp(c->typed, key)))
				complete_with(c, key, o->help);
			if (o->name)
				complete_with(c, buf_str(&name), o->help);
			buf_free(&name);
		}
		return;
	}
	buf_add(&c->head, word, (size_t)(arg - word));
	c->typed = arg;
	complete_argument(c, l, o);
}

void complete_words(const struct verb *const *all, char *const *words, size_t n)
{
	struct line l = { .v = *all, .all = all };
	struct completion c = { .typed = n ? words[n - 1] : "" };
	const struct verb *named = n > 1 ? verb_find(all, words[0]) : NULL;
	size_t i = !!named;

	nearest_start_list(&c.offers, complete_offered, &c);
	if (named)
		l.v = named;
	for (; n && i < n - 1; i++) {
		if (read_word(&l, words[i])) {
			printf(":command %zu\n", i);
			return;
		}
	}
	if (n < 2 && *c.typed != '-')
		for (; *all; all++)
			complete_with(&c, (*all)->name, (*all)->summary);
	if (l.wants) {
		complete_argument(&c, &l, l.wants);
	} else if (!l.ended && *c.typed == '-') {
		complete_option(&c, &l);
	} else {
		if (l.operands)
			l.operands->offer(&c.offers);
		else if (l.v->operand && !l.command)
			complete_kinds(&c, l.v, l.all, l.v->operand);
		/* beside verbs, all programs of PATH are too many */
		if (takes_command(&l) && (n > 1 || *c.typed))
			printf(":command %zu\n", i);
	}
	buf_free(&c.head);
}
