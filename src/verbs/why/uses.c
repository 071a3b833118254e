// SPDX-License-Identifier: LGPL-2.1-or-later
/* Why calls on events and ring buffers failed in a command, and what works in place of them. */
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/abi/call_decode.h"
#include "core/abi/strings.h"
#include "core/abi/tables.h"
#include "core/lib/die.h"
#include "formats/text/text_view.h"
#include "verbs/cmd.h"
#include "verbs/why/why_internal.h"

enum { FEWER = 40 };	/* limit of attempts with half of the memory */

void why_use_add(struct why_failures *to, const struct session *s, const struct call *c,
		 const struct refused_where *where)
{
	struct why_use u = { .call = c->desc, .error = (int)c->ret, .times = 1 };
	struct buf line = { 0 };
	struct text_sink t;
	bool maps = c->desc->id == CALL_MMAP;

	if (c->inject.injected || !model_concerns(s->model, c))
		return;
	u.event = model_subject(s->model, c);
	judge_call(s->model, c, where, u.error, &u.refused);
	for_each(old, to->uses, to->nuses) {
		if (old->call != u.call || old->error != u.error || old->event != u.event ||
		    old->refused.cause != u.refused.cause ||
		    strcmp(buf_str(&old->refused.numbers), buf_str(&u.refused.numbers)))
			continue;
		old->times++;
		buf_free(&u.refused.numbers);
		return;
	}
	text_sink_init(&t, &line);
	t.labels = true;
	call_text_rest(c, call_text_begin(c, &s->names, &t), &s->names, &t);
	u.line = xstrdup(buf_str(&line));
	buf_free(&line);
	u.repaired = maps && u.event && judge_repair(s->model, c, where, u.args, &u.cpu);
	u.inherit = u.event && event_attr(u.event, ATTR_INHERIT);
	APPEND(to->uses, to->nuses) = u;
}

/*
 * Map the ring of a dummy event, which counts nothing, with those arguments; fewer: with half of the
 * memory until that is allowed.  Return whether it works, with these arguments.
 */
static bool use_works(struct why_use *u, bool fewer)
{
	uint8_t attr[PERF_ATTR_SIZE_VER5] = { 0 };
	void *at = MAP_FAILED;
	int fd;

	attr_put(attr, ATTR_TYPE, PERF_TYPE_SOFTWARE);
	attr_put(attr, ATTR_SIZE, sizeof(attr));
	attr_put(attr, ATTR_CONFIG, PERF_COUNT_SW_DUMMY);
	attr_put(attr, ATTR_DISABLED, 1);
	attr_put(attr, ATTR_EXCLUDE_KERNEL, 1);
	attr_put(attr, ATTR_EXCLUDE_HV, 1);
	attr_put(attr, ATTR_INHERIT, u->inherit);
	fd = open_event(attr, sizeof(attr), 0, u->cpu, -1, 0);
	for (unsigned int i = 0; fd >= 0 && i < FEWER && at == MAP_FAILED; i++) {
		size_t page = (size_t)sysconf(_SC_PAGESIZE);

		at = mmap(NULL, u->args[1], (int)u->args[2],
			  (int)u->args[3] & ~(MAP_FIXED | MAP_FIXED_NOREPLACE), fd, 0);
		if (at == MAP_FAILED && (!fewer || u->args[1] <= 2 * page))
			break;
		if (at == MAP_FAILED)
			u->args[1] = (u->args[1] / page / 2 + 1) * page;
	}
	if (at != MAP_FAILED)
		munmap(at, u->args[1]);
	if (fd >= 0)
		close(fd);
	return at != MAP_FAILED;
}

/* Append the call that works. */
static void use_add_works(const struct why_use *u, bool each_cpu, struct buf *out)
{
	struct text_sink t;

	buf_addf(out, "mmap(NULL, %llu, ", (unsigned long long)u->args[1]);
	text_sink_init(&t, out);
	sink_flags(&t.sink, NULL, &xlat_mmap_prot, u->args[2]);
	sink_flags(&t.sink, NULL, &xlat_mmap_flags, u->args[3]);
	buf_addf(out, ", fd, 0)%s", each_cpu ? " of an event for each CPU" : "");
}

static void use_show(struct why *k, struct why_use *u)
{
	const struct show s = { .k = k, .out = &k->out };
	const struct refusal_desc *d = u->refused.cause;
	bool fewer = d && d->id == REFUSAL_MMAP_MEMLOCK;
	bool works = u->repaired && !u->args[5] && use_works(u, fewer);
	struct buf text = { 0 }, instead = { 0 };

	if (d)
		refused_text(&u->refused, &text);
	if (works)
		use_add_works(u, d->id == REFUSAL_MMAP_INHERIT, &instead);
	showing_begin(&k->out, !k->out.json);
	if (k->out.json) {
		sink_symbol(k->out.sink, "call", u->call->name);
		sink_symbol(k->out.sink, "line", u->line);
		sink_symbol(k->out.sink, "error", error_name(u->error));
		sink_uint(k->out.sink, "times", u->times);
		showing_add(&k->out, "check", d ? d->name : NULL);
		json_add_bool(&k->out.object, "sure", d && u->refused.sure);
		showing_add(&k->out, "cause", d ? buf_str(&text) : NULL);
		showing_add(&k->out, "works", works ? buf_str(&instead) : NULL);
		showing_end(&k->out);
	} else {
		buf_addf(&k->out.line, "%s = -1 %s%s", u->line, error_name(u->error),
			 u->times > 1 ? ", " : "");
		if (u->times > 1)
			buf_addf(&k->out.line, "%u times", u->times);
		showing_end(&k->out);
		buf_addf(show_line(&s, COLOR_ERROR, "cause"), "%s%s%s%s", d ? buf_str(&text) :
			 "not known: no check of these calls gives this error", d ? " (check " : "",
			 d ? d->name : "", d ? ")" : "");
		showing_end(&k->out);
		if (works) {
			buf_addf(show_line(&s, COLOR_GOOD, "works"), "%s", buf_str(&instead));
			showing_end(&k->out);
		}
	}
	buf_free(&text);
	buf_free(&instead);
}

int why_uses_show(struct why *k, struct why_failures *l)
{
	int status = EXIT_YES;

	for_each(u, l->uses, l->nuses) {
		use_show(k, u);
		if (!u->refused.cause)
			status = EXIT_NO;
	}
	return status;
}
