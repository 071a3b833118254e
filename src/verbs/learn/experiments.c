// SPDX-License-Identifier: LGPL-2.1-or-later
/* Experiments that steps cannot say, of lessons that have one or two of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/abi/layout.h"
#include "core/abi/rules.h"
#include "core/host/rights.h"
#include "experiment/work.h"
#include "lessons/lessons.h"
#include "verbs/learn/learn.h"
#include "xlat/tables.h"

/* lessons/read-formats.lesson ----------------------------------------------------------- */

bool learn_read_formats_bytes(struct learn *l)
{
	static const char *const names[] = { "value", "time_enabled", "time_running", "id" };
	const struct call *c = &l->own_session.own_calls.call;
	const uint8_t *bytes;
	size_t len;

	bytes = call_bytes(c, AT_SYSCALL_EXIT, c->args[1], (size_t)c->ret, &len);
	for (size_t at = 0; bytes && at + 8 <= len; at += 8) {
		struct buf line = { 0 };

		for (size_t i = 0; i < 8; i++)
			buf_addf(&line, "%02x ", bytes[at + i]);
		learn_say(l, "%2zu: %s  %-13s %llu", at, buf_str(&line), names[at / 8 % 4],
			  (unsigned long long)load_uint(bytes + at, 8));
		buf_free(&line);
	}
	return true;
}

/* lessons/side-band.lesson --------------------------------------------------------------- */

enum { TYPES = 32 };

/* Records of each type. */
struct kinds {
	unsigned int records, of[TYPES];
};

static bool count_kind(void *ctx, const struct learn_record *r)
{
	struct kinds *k = ctx;

	k->records++;
	if (r->type < TYPES)
		k->of[r->type]++;
	return true;
}

bool learn_side_band_run(struct learn *l)
{
	struct kinds k = { 0 };
	struct buf list = { 0 };
	unsigned int kinds = 0;

	learn_look(l, steps_event(&l->steps, "a"), count_kind, &k);
	for (unsigned int t = 0; t < TYPES; t++) {
		const struct xlat_entry *e = k.of[t] ? xlat_find(&xlat_perf_event_type, t) : NULL;

		if (!k.of[t])
			continue;
		buf_addf(&list, "%s%s", kinds++ ? ", " : "", e ? e->name : "unknown");
	}
	learn_set(l, "records", "%u", k.records);
	learn_set(l, "kinds", "%u", kinds);
	learn_set(l, "list", "%s", buf_str(&list));
	buf_free(&list);
	return learn_steps(l, "unmap a\n");
}

/* lessons/permissions.lesson -------------------------------------------------------------- */

enum { NOBODY = 65534, UNREADABLE = -1000 };

bool learn_permissions_prepare(struct learn *l)
{
	long level = rights_sysctl("perf_event_paranoid", UNREADABLE);

	learn_set(l, "nobody", "%d", NOBODY);
	learn_set(l, "level", "this level");
	if (level != UNREADABLE) {
		learn_set(l, "paranoid", "%ld", level);
		learn_set(l, "level", "level %ld", level);
	}
	/* root of another user namespace has no privileges for perf events to give up */
	if (!geteuid() && rights_user_ns_is_first() == FACT_YES)
		learn_set(l, "root", "yes");
	steps_set_var(&l->steps, "root", !!learn_get(l, "root"));
	return true;
}

/* Show which capabilities are in our effective set. */
bool learn_permissions_caps(struct learn *l)
{
	static const struct {
		int bit;
		const char *name;
	} caps[] = {
		{ ABI_CAP_PERFMON, "CAP_PERFMON" }, { ABI_CAP_SYS_ADMIN, "CAP_SYS_ADMIN" },
		{ ABI_CAP_SYS_PTRACE, "CAP_SYS_PTRACE" },
	};
	unsigned long long effective = rights_effective();

	learn_say(l, "effective capabilities, by capget(2): %016llx", effective);
	for (size_t i = 0; i < sizeof(caps) / sizeof(*caps); i++)
		learn_say(l, "%-14s (bit %d): %s", caps[i].name, caps[i].bit,
			  effective >> caps[i].bit & 1 ? "here" : "not here");
	return true;
}

/* lessons/uprobes.lesson ------------------------------------------------------------------ */

/* Show the line of our own maps with the function. */
bool learn_uprobes_maps(struct learn *l)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long start, end, at = work_called();
	char *line = NULL;
	size_t size = 0;
	ssize_t n;

	while (f && (n = getline(&line, &size, f)) > 0) {
		if (sscanf(line, "%lx-%lx", &start, &end) != 2 || at < start || at >= end)
			continue;
		line[n - 1] = '\0';
		/* one blank before the path */
		for (char *blank; (blank = strstr(line, "  "));)
			memmove(blank, blank + 1, strlen(blank));
		learn_say(l, "%s", line);
		learn_set(l, "mapped", "yes");
	}
	free(line);
	if (f)
		fclose(f);
	return true;
}
