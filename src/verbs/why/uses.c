// SPDX-License-Identifier: LGPL-2.1-or-later
/* Why calls on events and ring buffers failed in a command, and what works in place of them. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/abi/call_decode.h"
#include "core/abi/strings.h"
#include "core/abi/tables.h"
#include "core/lib/die.h"
#include "formats/text/text_view.h"
#include "verbs/cmd.h"
#include "verbs/why/why_internal.h"

/* Find arguments of mmap that are valid, and nearly what the call has. */
static void use_repair(struct why_use *u, const struct call *c)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), n = 1;

	while (n + 1 < c->args[1] / page && n < UINT32_MAX)
		n *= 2;
	n = u->refused.pages ? u->refused.pages : n;
	u->length = c->args[1] == page && !u->refused.pages ? page : (n + 1) * page;
	u->prot = c->args[2] & (PROT_READ | PROT_WRITE);
	u->flags = MAP_SHARED | (c->args[3] & MAP_POPULATE);
	u->inherit = event_attr(u->event, ATTR_INHERIT);
	/* an inherited event has a ring on each CPU only */
	u->cpu = u->inherit && u->event->cpu < 0 ? 0 : u->event->cpu;
	u->maps = !c->args[5] && u->refused.cause && (!u->event->output || u->event->mapped);
}

void why_use_add(struct why_failures *to, const struct session *s, const struct call *c,
		 const struct refused_where *where)
{
	struct why_use u = { .call = c->desc, .error = (int)c->ret, .times = 1 };
	struct buf line = { 0 };
	struct text_sink t;

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
	if (c->desc->id == CALL_MMAP && u.event)
		use_repair(&u, c);
	APPEND(to->uses, to->nuses) = u;
}

/*
 * Map the ring of a dummy event, which counts nothing, with half of the memory until that is
 * allowed.  Return whether it works, then with u->length.
 */
static bool use_works(struct why_use *u)
{
	uint8_t attr[PERF_ATTR_SIZE_VER5] = { 0 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
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
	for (; fd >= 0; u->length = (u->length / page / 2 + 1) * page) {
		at = mmap(NULL, u->length, (int)u->prot, MAP_SHARED, fd, 0);
		if (at != MAP_FAILED || (errno != EPERM && errno != ENOMEM) || u->length <= 2 * page)
			break;
	}
	if (at != MAP_FAILED)
		munmap(at, u->length);
	if (fd >= 0)
		close(fd);
	return at != MAP_FAILED;
}

/* Append the call that works. */
static void use_add_works(const struct why_use *u, struct buf *out)
{
	struct text_sink t;

	buf_addf(out, "mmap(NULL, %llu, ", (unsigned long long)u->length);
	text_sink_init(&t, out);
	sink_flags(&t.sink, NULL, &xlat_mmap_prot, u->prot);
	sink_flags(&t.sink, NULL, &xlat_mmap_flags, u->flags);
	buf_addf(out, ", fd, 0)%s", u->refused.cause->id == REFUSAL_MMAP_INHERIT ?
		 " of an event for each CPU" : "");
}

static void use_show(struct why *k, struct why_use *u)
{
	const struct show s = { .k = k, .out = &k->out };
	const struct refusal_desc *d = u->refused.cause;
	struct buf text = { 0 }, instead = { 0 };
	uint64_t length = u->length;

	if (d)
		refused_text(&u->refused, &text);
	/* if pevtrace may lock what the program may not, that is no answer */
	if (u->maps && use_works(u) && (d->id != REFUSAL_MMAP_MEMLOCK || u->length < length))
		use_add_works(u, &instead);
	showing_begin(s.out, !s.out->json);
	if (s.out->json) {
		sink_symbol(s.out->sink, "call", u->call->name);
		sink_symbol(s.out->sink, "line", u->line);
		sink_symbol(s.out->sink, "error", error_name(u->error));
		sink_uint(s.out->sink, "times", u->times);
		showing_add(s.out, "check", d ? d->name : NULL);
		json_add_bool(&s.out->object, "sure", d && u->refused.sure);
		showing_add(s.out, "cause", d ? buf_str(&text) : NULL);
		showing_add(s.out, "works", instead.len ? buf_str(&instead) : NULL);
	} else {
		buf_addf(&s.out->line, "%s = -1 %s", u->line, error_name(u->error));
		if (u->times > 1)
			buf_addf(&s.out->line, ", %u times", u->times);
		showing_end(s.out);
		buf_adds(show_line(&s, COLOR_ERROR, "cause"), d ? buf_str(&text) :
			 "not known: no check of these calls gives this error");
		if (d)
			buf_addf(&s.out->line, " (check %s)", d->name);
	}
	showing_end(s.out);
	if (instead.len && !s.out->json) {
		buf_adds(show_line(&s, COLOR_GOOD, "works"), buf_str(&instead));
		showing_end(s.out);
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
