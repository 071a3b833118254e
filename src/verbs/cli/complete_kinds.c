// SPDX-License-Identifier: LGPL-2.1-or-later
/* Completion of arguments by their kind: the words are those that the parsers suggest. */
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/abi/attr_member.h"
#include "core/abi/strings.h"
#include "verbs/cli/complete_internal.h"
#include "verbs/cli/injections.h"
#include "verbs/cli/select.h"
#include "explain/lexicon.h"
#include "core/host/proc.h"
#include "core/host/sysfile.h"
#include "core/lib/die.h"
#include "xlat/tables.h"

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

static void complete_errno(struct completion *c)
{
	error_offer(&c->offers);
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
		complete_errno(c);
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

static void complete_arch(struct completion *c)
{
	arch_offer(&c->offers);
}

static void complete_ioctl(struct completion *c)
{
	ioctl_offer(&c->offers);
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
	void (*complete)(struct completion *c);
} kinds[] = {
	{ "ARCH", complete_arch },	  { "ATTR", complete_at_file },
	{ "CGROUP", complete_directory }, { "CLAIM", complete_claim },
	{ "DIR", complete_directory },	  { "DUMP", complete_file },
	{ "DUMP:LINE", complete_file },	  { "SET:DO", complete_injection },
	{ "ERRNO", complete_errno },	  { "EVENT", complete_event },
	{ "FILE", complete_file },	  { "SET[:error=E]", complete_fault },
	{ "FLAGS", complete_flags },	  { "NUMBER", complete_ioctl },
	{ "PATTERN", complete_event },	  { "RECORDS", complete_at_file },
	{ "PID", complete_pid },	  { "RELEASE", complete_release },
	{ "SET", complete_set },	  { "SIGNAL", complete_signal },
	{ "TERM", complete_term },	  { "USER", complete_user },
	{ "VAR=VALUE", complete_variable },
};

static void complete_kind(struct completion *c, const struct verb *v,
			  const struct verb *const *all, const char *kind)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].kind, kind))
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
