// SPDX-License-Identifier: LGPL-2.1-or-later
/* The names that decoders look up, each reported once to the views. */
#include <stddef.h>

#include "core/host/rawdata.h"
#include "core/lib/hash.h"
#include "core/session/session_internal.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"

enum name_kind { NAME_PMU, NAME_TRACEPOINT, NAME_TERMS, NAME_FORMAT };

static struct session *session_of(const struct names *n)
{
	return (struct session *)((char *)n - offsetof(struct session, names));
}

/* Note that a name is reported to the views; return whether it is for the first time. */
static bool session_is_new_name(struct session *s, enum name_kind kind, uint64_t key)
{
	return !map_set(&s->named, key << 3 | kind, s);
}

static const char *session_name_pmu(const struct names *n, uint32_t type)
{
	struct session *s = session_of(n);
	const char *name = s->source->pmu ? s->source->pmu(s->source, type) : NULL;

	if (session_is_new_name(s, NAME_PMU, type))
		EACH_VIEW(s, name_pmu, type, name);
	return name;
}

static const char *session_name_tracepoint(const struct names *n, uint64_t id)
{
	struct session *s = session_of(n);
	const char *name = s->source->tracepoint ? s->source->tracepoint(s->source, id) : NULL;

	/* a tracepoint that is not found now may be found later */
	if (name && session_is_new_name(s, NAME_TRACEPOINT, id))
		EACH_VIEW(s, name_tracepoint, id, name);
	return name;
}

static const char *session_name_terms(const struct names *n, uint32_t type,
				      const uint64_t *config, size_t nconfigs)
{
	struct session *s = session_of(n);
	const char *name = NULL;
	uint64_t key = hash_word(HASH_START, type);

	if (s->source->terms)
		name = s->source->terms(s->source, type, config, nconfigs);
	for (size_t i = 0; i < nconfigs; i++)
		key = hash_word(key, config[i]);
	if (session_is_new_name(s, NAME_TERMS, key))
		EACH_VIEW(s, name_terms, type, config, nconfigs, name);
	return name;
}

/* Return whether the name differs from the last one reported: descriptors are reused. */
static bool session_is_new_fd(struct session *s, pid_t tid, int64_t fd, const char *name)
{
	uint64_t hash = hash_text(HASH_START, name ? name : "") | 1; /* never NULL */

	return map_set(&s->fd_named, (uint64_t)tid << 32 | (uint32_t)fd,
		       (void *)(uintptr_t)hash) != (void *)(uintptr_t)hash;
}

/* Return the event's name, or what the source calls another descriptor. */
static const char *session_name_fd(const struct names *n, const struct call *c, int64_t fd)
{
	struct session *s = session_of(n);
	const struct event *e = fd < 0 ? NULL : model_event(s->model, c->tid, (int)fd);
	const char *name;

	if (e)
		return e->name;
	if (fd < 0 || !s->fd_names || !s->source->fd)
		return NULL;
	name = s->source->fd(s->source, c, fd);
	if (session_is_new_fd(s, c->tid, fd, name))
		EACH_VIEW(s, name_fd, c->tid, fd, name);
	return name;
}

/* Return the program, and report it if it is another one than before: descriptors are reused. */
static const struct bpf_program *session_name_program(const struct names *n, const struct call *c,
						       int64_t fd)
{
	struct session *s = session_of(n);
	const struct bpf_program *p;
	uint64_t hash = 1; /* never NULL */

	if (fd < 0 || !s->source->program)
		return NULL;
	p = s->source->program(s->source, c, fd);
	if (p)
		hash |= hash_text(hash_word(hash_word(HASH_START, p->id), p->type), p->name);
	if (map_set(&s->programs_named, (uint64_t)c->tid << 32 | (uint32_t)fd,
		    (void *)(uintptr_t)hash) != (void *)(uintptr_t)hash)
		EACH_VIEW(s, name_program, c->tid, fd, p);
	return p;
}

static const char *session_name_link(const struct names *n, const struct call *c, int64_t fd)
{
	const struct event *e = fd < 0 ? NULL :
				model_linked(session_of(n)->model, c->tid, (int)fd);

	return e ? e->name : NULL;
}

static int64_t session_read_format(const struct names *n, const struct call *c, int64_t fd)
{
	const struct event *e = model_event(session_of(n)->model, c->tid, (int)fd);

	return !e ? NAMES_NO_EVENT : e->format_known ? (int64_t)e->read_format :
	       NAMES_NO_FORMAT;
}

static const char *session_name_event(const struct names *n, uint64_t id)
{
	const struct event *e = model_event_by_id(session_of(n)->model, id);

	return e ? e->name : NULL;
}

static const char *session_name_format(const struct names *n, uint64_t id)
{
	struct session *s = session_of(n);
	const char *text = s->source->format ? s->source->format(s->source, id) : NULL;

	if (text && session_is_new_name(s, NAME_FORMAT, id))
		EACH_VIEW(s, name_format, id, text);
	return text;
}

static const char *session_name_format_of(void *ctx, uint64_t id)
{
	return session_name_format(&((struct session *)ctx)->names, id);
}

/* Emit the raw data of a tracepoint's record by its format; return false for others. */
static bool session_emit_raw(void *ctx, const uint8_t *data, size_t len, struct sink *sink)
{
	struct session *s = ctx;
	const struct event *e = s->recording;

	return event_attr(e, ATTR_TYPE) == PERF_TYPE_TRACEPOINT &&
	       rawdata_emit(s->rawdata, event_attr(e, ATTR_CONFIG), data, len, sink);
}

static void session_swap_raw(void *ctx, uint8_t *data, size_t len)
{
	struct session *s = ctx;
	const struct event *e = s->recording;

	if (event_attr(e, ATTR_TYPE) == PERF_TYPE_TRACEPOINT)
		rawdata_swap(s->rawdata, event_attr(e, ATTR_CONFIG), data, len);
}

/* Look up a symbol; report it if it differs from the last one reported: mappings change. */
static const char *session_name_symbol(void *ctx, int32_t pid, uint64_t ip,
				       unsigned int cpumode, bool after_call)
{
	struct session *s = ctx;
	const char *name = s->source->symbol(s->source, pid, ip, cpumode, after_call);
	uint64_t key = hash_word(hash_word(hash_word(HASH_START, (uint32_t)pid), ip),
				 cpumode << 1 | after_call);
	uintptr_t hash = name ? (uintptr_t)hash_text(HASH_START, name) | 1 : 0;
	void *last = name ? map_set(&s->symbols_named, key, (void *)hash) :
		     map_del(&s->symbols_named, key);

	if (last != (void *)hash)
		EACH_VIEW(s, name_symbol, pid, ip, cpumode, after_call, name);
	return name;
}

static const char *session_name_event_of_id(void *ctx, uint64_t id)
{
	return session_name_event(&((struct session *)ctx)->names, id);
}

void session_names_init(struct session *s)
{
	const struct names *source = s->source;

	s->names = (struct names){
		.pmu = session_name_pmu, .tracepoint = session_name_tracepoint,
		.terms = session_name_terms, .fd = session_name_fd,
		.program = session_name_program, .link = session_name_link,
		.read_format = session_read_format, .event = session_name_event,
		.format = session_name_format,
		.page_size = source->page_size,
	};
	s->hooks = (struct record_hooks){
		.ctx = s, .event = session_name_event_of_id, .raw = session_emit_raw,
		.swap_raw = session_swap_raw,
		.symbol = s->symbols && source->symbol ? session_name_symbol : NULL,
	};
	s->rawdata = rawdata_new(session_name_format_of, s);
}
