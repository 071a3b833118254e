// SPDX-License-Identifier: LGPL-2.1-or-later
/* Steps that make calls on events. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <time.h>

#include "core/abi/tables.h"
#include "core/host/event_syntax.h"
#include "experiment/instruments.h"
#include "experiment/steps_internal.h"
#include "experiment/trial.h"

/*
 * Evaluate "key=EXPRESSION" among the words; the name of an event is its descriptor.
 * Return 1, 0 if there is no such word, or -1 if the expression is malformed.
 */
static int step_option(struct steps *run, const char *key, uint64_t *v)
{
	size_t n = strlen(key);
	const struct step_event *e;

	for (size_t i = 1; i < run->nwords; i++) {
		if (strncmp(run->words[i], key, n) || run->words[i][n] != '=')
			continue;
		e = steps_event(run, run->words[i] + n + 1);
		if (e)
			*v = (uint64_t)(int64_t)e->fd;
		else if (!steps_value(run, run->words[i] + n + 1, v))
			return -1;
		return 1;
	}
	return 0;
}

static bool step_has_word(const struct steps *run, const char *word)
{
	for (size_t i = 1; i < run->nwords; i++)
		if (!strcmp(run->words[i], word))
			return true;
	return false;
}

/* Return the event that word 1 names, or NULL with the reason set. */
static struct step_event *named_event(struct steps *run)
{
	struct step_event *e = run->nwords > 1 ? steps_event(run, run->words[1]) : NULL;

	if (!e)
		steps_malformed(run);
	return e;
}

/* open ------------------------------------------------------------------------------- */

struct opening {
	uint64_t pid, cpu, group, flags;
};

/* Apply each poke=OFFSET/BYTES:VALUE to the attr's bytes. */
static bool poke_bytes(struct steps *run, uint8_t *bytes)
{
	unsigned int at, width;
	uint64_t v;
	int n;

	for (size_t i = 3; i < run->nwords; i++) {
		if (strncmp(run->words[i], "poke=", 5))
			continue;
		if (sscanf(run->words[i], "poke=%u/%u:%n", &at, &width, &n) != 2 || width > 8 ||
		    width & (width - 1) || at + width > STEPS_MEMORY)
			return steps_malformed(run), false;
		if (!steps_value(run, run->words[i] + n, &v))
			return false;
		store_uint(bytes + at, width, v);
	}
	return true;
}

static int open_at(struct steps *run, const void *attr, const struct opening *o)
{
	return (int)own_call(run->own_calls, CALL_PERF_EVENT_OPEN, (const uint64_t[CALL_MAX_ARGS]){
		(uintptr_t)attr, o->pid, o->cpu, o->group, o->flags,
	});
}

/* Give the attr the size that this kernel knows if nothing follows: programs do so, too. */
static void use_known_size(const struct steps *run, struct attr_text *attr)
{
	const struct layout *l = &layout_perf_event_attr;
	uint32_t known = run->fit_attr ? trial_attr_size() : 0, end = l->size;

	if (!known || layout_get(l, ATTR_SIZE, attr->bytes, attr->len) != end)
		return;
	while (end > known && !attr->bytes[end - 1])
		end--;
	if (end == known)
		field_set(&l->fields[ATTR_SIZE], known, attr->bytes);
}

static int open_bytes(struct steps *run, const struct attr_text *attr,
		      const struct opening *o, uint8_t *seen)
{
	uint8_t *bytes = xcalloc(1, STEPS_MEMORY);
	int fd = -1;

	memcpy(bytes, attr->bytes, attr->len < STEPS_MEMORY ? attr->len : STEPS_MEMORY);
	if (poke_bytes(run, bytes)) {
		memcpy(seen, bytes, STEPS_ATTR);
		fd = !attr->nstrings ? open_at(run, bytes, o) :
		     own_call_open(run->own_calls, attr, (pid_t)o->pid, (int)o->cpu,
				   (int)o->group, o->flags);
		run->size = layout_get(&layout_perf_event_attr, ATTR_SIZE, bytes, STEPS_ATTR);
	}
	free(bytes);
	return fd;
}

/* open NAME EVENT|null|bad [pid=] [cpu=] [group=] [flags=] [poke=] */
enum step_result step_open(struct steps *run)
{
	struct event_list list = { 0 };
	enum instrument needed;
	struct step_event *e;
	struct opening o = { .cpu = UINT64_MAX, .group = UINT64_MAX, .flags = run->flags };

	if (run->nwords < 3)
		return steps_malformed(run);
	if (step_option(run, "pid", &o.pid) < 0 || step_option(run, "cpu", &o.cpu) < 0 ||
	    step_option(run, "group", &o.group) < 0 || step_option(run, "flags", &o.flags) < 0)
		return STEP_UNTRIED;
	e = steps_event(run, run->words[1]);
	if (!e && run->nevents < STEPS_EVENTS)
		e = &run->events[run->nevents++];
	if (!e)
		return steps_malformed(run);
	record_values_free(&e->record);
	*e = (struct step_event){ .fd = -1 };
	snprintf(e->name, sizeof(e->name), "%s", run->words[1]);
	if (!strcmp(run->words[2], "null"))
		return steps_check_result(run, open_at(run, NULL, &o));
	if (!strcmp(run->words[2], "bad"))
		return steps_check_result(run, open_at(run, (void *)1, &o));
	if (!event_list_add(&list, run->host, run->words[2]))
		return steps_untried(run, "%s: %s", run->words[2], list.why);
	use_known_size(run, &list.events[0].attr);
	if (instrument_of(run->host, list.events[0].attr.bytes, list.events[0].attr.len, &needed))
		run->outcome->instruments |= 1U << needed;
	e->fd = open_bytes(run, &list.events[0].attr, &o, e->attr);
	e->pid = (pid_t)o.pid;
	e->cpu = (int)o.cpu;
	e->backward = event_get(&list.events[0], ATTR_WRITE_BACKWARD);
	event_list_free(&list);
	return *run->outcome->reason ? STEP_UNTRIED : steps_check_result(run, e->fd);
}

/* Calls on an event ------------------------------------------------------------------------- */

static enum step_result step_close(struct steps *run)
{
	struct step_event *e = named_event(run);
	int fd;

	if (!e)
		return STEP_UNTRIED;
	fd = e->fd;
	e->fd = -1;
	return steps_check_result(run, own_call_close(run->own_calls, fd));
}

/* read NAME [BYTES] */
static enum step_result step_read(struct steps *run)
{
	struct step_event *e = named_event(run);
	uint64_t size = run->read_bytes ? run->read_bytes : sizeof(e->words);

	if (!e || (run->nwords > 2 && !steps_value(run, run->words[2], &size)))
		return STEP_UNTRIED;
	if (size > sizeof(e->words))
		return steps_malformed(run);
	return steps_check_result(run, own_call_read(run->own_calls, e->fd, e->words, size));
}

/*
 * Return the address of a struct perf_event_query_bpf whose ids_len ends a read-only page
 * and whose prog_cnt begins the next page, or 0 if there is no memory.
 */
static uint64_t kept_query(uint32_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return 0;
	memcpy(p + page - sizeof(n), &n, sizeof(n));
	return mprotect(p, page, PROT_READ) ? 0 : (uintptr_t)p + page - sizeof(n);
}

/*
 * Set *arg to the third argument of ioctl:
 *	EVENT		its descriptor
 *	&EXPRESSION	the address of the value
 *	"TEXT"		the address of the text
 *	@EVENT		the address of an attr, in the syntax of pevtrace open
 *	query:N		the address of a struct perf_event_query_bpf with room for N ids
 *	kept:N		the same with a read-only ids_len
 *	EXPRESSION	the value
 */
static bool ioctl_argument(struct steps *run, const char *word, uint8_t *memory, uint64_t *arg)
{
	const struct step_event *e = steps_event(run, word);
	struct event_list list = { 0 };
	uint64_t v;

	*arg = (uintptr_t)memory;
	if (e) {
		*arg = (uint64_t)(int64_t)e->fd;
		return true;
	}
	switch (*word) {
	case '"':
		snprintf((char *)memory, ATTR_TEXT_MAX, "%s", word + 1);
		return true;
	case '@':
		/* for MODIFY_ATTRIBUTES */
		if (!event_list_add(&list, run->host, word + 1))
			return steps_untried(run, "%s: %s", word + 1, list.why), false;
		use_known_size(run, &list.events[0].attr);
		memcpy(memory, list.events[0].attr.bytes, list.events[0].attr.len);
		event_list_free(&list);
		return true;
	case '&':
		if (!steps_value(run, word + 1, &v))
			return false;
		memcpy(memory, &v, sizeof(v));
		return true;
	}
	if (!strncmp(word, "kept:", 5))
		return steps_value(run, word + 5, &v) && (*arg = kept_query((uint32_t)v));
	if (strncmp(word, "query:", 6))
		return steps_value(run, word, arg);
	memset(memory, 0xee, sizeof(run->query));
	return steps_value(run, word + 6, &v) && memcpy(memory, &v, 4);
}

/* ioctl NAME REQUEST [ARGUMENT [BYTES]]; REQUEST without PERF_EVENT_IOC_, or an expression */
static enum step_result step_ioctl(struct steps *run)
{
	struct step_event *e = named_event(run);
	uint64_t request = 0, arg = 0, n;
	char *text = (char *)run->memory;
	size_t len;
	int64_t result;

	if (!e || run->nwords < 3)
		return steps_malformed(run);
	for (size_t i = 0; i < ioctl_ndescs && !request; i++)
		if (!strcmp(ioctl_descs[i].name + strlen("PERF_EVENT_IOC_"), run->words[2]))
			request = sizeof(long) == 8 ? ioctl_descs[i].request :
				  ioctl_descs[i].compat;
	memset(run->memory, 0, sizeof(run->memory));
	if ((!request && !steps_value(run, run->words[2], &request)) ||
	    (run->nwords > 3 && !ioctl_argument(run, run->words[3], run->memory, &arg)))
		return steps_malformed(run);
	if (run->nwords > 4) {
		len = strlen(text);
		if (!steps_value(run, run->words[4], &n) || n < len || n >= STEPS_MEMORY)
			return steps_malformed(run);
		memset(text + len, ' ', n - len);
		text[n] = '\0';
	}
	result = own_call_ioctl(run->own_calls, e->fd, (uint32_t)request, arg);
	memcpy(&run->out, run->memory, sizeof(run->out));
	memcpy(run->query, run->memory, sizeof(run->query));
	run->size = layout_get(&layout_perf_event_attr, ATTR_SIZE, run->memory, STEPS_ATTR);
	return steps_check_result(run, result);
}

/* map NAME PAGES [r|w|rw|rwx] [private] [at=BYTES]; at offset 0 this is the ring */
static enum step_result step_map(struct steps *run)
{
	struct step_event *e = named_event(run);
	uint64_t pages, at = 0, page = (uint64_t)sysconf(_SC_PAGESIZE);
	int prot = PROT_READ | PROT_WRITE;
	int64_t result;

	if (!e || run->nwords < 3 || !steps_value(run, run->words[2], &pages) ||
	    step_option(run, "at", &at) < 0)
		return steps_malformed(run);
	if (step_has_word(run, "r"))
		prot = PROT_READ;
	if (step_has_word(run, "w"))
		prot = PROT_WRITE;
	if (step_has_word(run, "rwx"))
		prot |= PROT_EXEC;
	result = own_call_mmap(run->own_calls, e->fd, pages * page, at, prot,
			       step_has_word(run, "private") ? MAP_PRIVATE : MAP_SHARED);
	if (!(result < 0 && result > -4096) && !at && !e->ring) {
		e->ring = (uint8_t *)(uintptr_t)result;
		e->ring_len = pages * page;
		e->shown = (struct ring_seen){ 0 };
		e->overwrite = !(prot & PROT_WRITE);
		work_memory_ring(e->ring, e->ring_len, !e->overwrite);
	}
	return steps_check_result(run, result < 0 && result > -4096 ? result : 0);
}

static enum step_result step_unmap(struct steps *run)
{
	struct step_event *e = named_event(run);
	uint8_t *ring;

	if (!e)
		return STEP_UNTRIED;
	ring = e->ring;
	e->ring = NULL;
	return steps_check_result(run, own_call_unmap(run->own_calls, ring, e->ring_len));
}

/* protect NAME: make the mapping writable */
static enum step_result step_protect(struct steps *run)
{
	struct step_event *e = named_event(run);

	if (!e || !e->ring)
		return steps_malformed(run);
	steps_note(run, "mprotect(ring, PROT_READ|PROT_WRITE)");
	if (mprotect(e->ring, e->ring_len, PROT_READ | PROT_WRITE))
		return steps_check_result(run, -errno);
	return steps_check_result(run, 0);
}

/* poke NAME FIELD EXPRESSION: write to the struct perf_event_mmap_page */
static enum step_result step_poke(struct steps *run)
{
	struct step_event *e = named_event(run);
	struct buf note = { 0 };
	uint64_t v;
	const struct field *f;

	if (!e || run->nwords != 4 || !e->ring || e->overwrite)
		return steps_malformed(run);
	if (!steps_value(run, run->words[3], &v))
		return STEP_UNTRIED;
	f = layout_field(&layout_perf_event_mmap_page, run->words[2]);
	if (!f)
		return steps_malformed(run);
	buf_addf(&note, "write to the first page: %s = %llu", run->words[2], (unsigned long long)v);
	steps_note(run, note.data);
	buf_free(&note);
	field_set(f, v, e->ring);
	return STEP_OK;
}

/* poll NAME: its result is revents, without waiting */
static enum step_result step_poll(struct steps *run)
{
	struct step_event *e = named_event(run);
	struct pollfd p = { .fd = e ? e->fd : -1, .events = POLLIN };
	struct timespec now = { 0, 0 };
	int64_t n;

	if (!e)
		return STEP_UNTRIED;
	n = own_call(run->own_calls, CALL_PPOLL, (const uint64_t[CALL_MAX_ARGS]){
		(uintptr_t)&p, 1, (uintptr_t)&now, 0, 8,
	});
	return steps_check_result(run, n < 0 ? n : p.revents);
}

/* prctl OPERATION */
static enum step_result step_prctl(struct steps *run)
{
	uint64_t op;

	if (run->nwords != 2 || !steps_value(run, run->words[1], &op))
		return STEP_UNTRIED;
	return steps_check_result(run, own_call(run->own_calls, CALL_PRCTL,
						(const uint64_t[CALL_MAX_ARGS]){ op }));
}

/* fcntl NAME COMMAND [EXPRESSION|owner]; owner is a struct f_owner_ex for this thread */
static enum step_result step_fcntl(struct steps *run)
{
	const struct f_owner_ex owner = { .type = F_OWNER_TID, .pid = gettid() };
	struct step_event *e = named_event(run);
	uint64_t cmd, arg = 0;
	int64_t result;

	if (!e || run->nwords < 3 || !steps_value(run, run->words[2], &cmd))
		return STEP_UNTRIED;
	if (run->nwords > 3 && !strcmp(run->words[3], "owner"))
		arg = (uintptr_t)&owner;
	else if (run->nwords > 3 && !steps_value(run, run->words[3], &arg))
		return STEP_UNTRIED;
	result = own_call(run->own_calls, CALL_FCNTL, (const uint64_t[CALL_MAX_ARGS]){
		(uint64_t)(int64_t)e->fd, cmd, arg,
	});
	return steps_check_result(run, result);
}

const struct step_word steps_calls[] = {
	{ "close", step_close }, { "fcntl", step_fcntl }, { "ioctl", step_ioctl },
	{ "map", step_map }, { "open", step_open }, { "poke", step_poke }, { "poll", step_poll },
	{ "prctl", step_prctl }, { "protect", step_protect }, { "read", step_read },
	{ "unmap", step_unmap }, { NULL, NULL },
};
