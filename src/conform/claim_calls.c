// SPDX-License-Identifier: LGPL-2.1-or-later
/* Steps of experiments that are calls. */
#include "conform/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "abi/layout.h"
#include "host/event_syntax.h"
#include "lib/die.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* "key=EXPRESSION" among the words: 1, 0 when it is not there, -1 when it is wrong. */
static int option(struct claim_run *l, const char *key, uint64_t *v)
{
	size_t n = strlen(key);
	const struct claim_event *e;

	for (size_t i = 1; i < l->nwords; i++) {
		if (strncmp(l->words[i], key, n) || l->words[i][n] != '=')
			continue;
		e = claim_event(l, l->words[i] + n + 1);
		if (e)
			*v = (uint64_t)(int64_t)e->fd;
		else if (!claim_value(l, l->words[i] + n + 1, v))
			return -1;
		return 1;
	}
	return 0;
}

static bool has_word(const struct claim_run *l, const char *word)
{
	for (size_t i = 1; i < l->nwords; i++)
		if (!strcmp(l->words[i], word))
			return true;
	return false;
}

/* The event that word 1 names; NULL after the reason is told. */
static struct claim_event *subject(struct claim_run *l)
{
	struct claim_event *e = l->nwords > 1 ? claim_event(l, l->words[1]) : NULL;

	if (!e)
		claim_bad(l, "no event: %s", l->step);
	return e;
}

/* open ------------------------------------------------------------------------------- */

struct opening {
	uint64_t pid, cpu, group, flags;
};

static bool arguments(struct claim_run *l, struct opening *o)
{
	*o = (struct opening){ .cpu = UINT64_MAX, .group = UINT64_MAX };
	return option(l, "pid", &o->pid) >= 0 && option(l, "cpu", &o->cpu) >= 0 &&
	       option(l, "group", &o->group) >= 0 && option(l, "flags", &o->flags) >= 0;
}

/* poke=OFFSET/BYTES:VALUE changes the attr's bytes behind what its text says. */
static bool poke_bytes(struct claim_run *l, uint8_t *bytes)
{
	unsigned int at, width;
	uint64_t v;
	int n;

	for (size_t i = 3; i < l->nwords; i++) {
		if (strncmp(l->words[i], "poke=", 5))
			continue;
		if (sscanf(l->words[i], "poke=%u/%u:%n", &at, &width, &n) != 2 || width > 8 ||
		    at + width > CLAIM_MEMORY)
			return claim_bad(l, "%s", l->step), false;
		if (!claim_value(l, l->words[i] + n, &v))
			return false;
		memcpy(bytes + at, &v, width); /* as little-endian machines have it */
	}
	return true;
}

static int open_at(struct claim_run *l, const void *attr, const struct opening *o)
{
	return (int)own_call(&l->own_calls, CALL_PERF_EVENT_OPEN, (const uint64_t[CALL_MAX_ARGS]){
		(uintptr_t)attr, o->pid, o->cpu, o->group, o->flags,
	});
}

static int open_bytes(struct claim_run *l, const struct attr_text *attr, const struct opening *o,
		      uint8_t *seen)
{
	uint8_t *bytes = xcalloc(1, CLAIM_MEMORY);
	int fd = -1;

	memcpy(bytes, attr->bytes, attr->len < CLAIM_MEMORY ? attr->len : CLAIM_MEMORY);
	if (poke_bytes(l, bytes)) {
		memcpy(seen, bytes, CLAIM_ATTR);
		fd = attr->nstrings ? own_call_open(&l->own_calls, attr, (pid_t)o->pid, (int)o->cpu,
						 (int)o->group, o->flags) :
		     open_at(l, bytes, o);
		l->size = layout_get(&layout_perf_event_attr, ATTR_SIZE, bytes, CLAIM_ATTR);
	}
	free(bytes);
	return fd;
}

static struct claim_event *new_event(struct claim_run *l, const char *name)
{
	struct claim_event *e = claim_event(l, name);

	if (!e && l->nevents < CLAIM_EVENTS)
		e = &l->events[l->nevents++];
	if (!e)
		return NULL;
	buf_free(&e->record);
	*e = (struct claim_event){ .fd = -1 };
	snprintf(e->name, sizeof(e->name), "%s", name);
	return e;
}

/* open NAME EVENT|null|bad [pid=] [cpu=] [group=] [flags=] [poke=] */
enum step_end claim_open(struct claim_run *l)
{
	struct event_list list = { 0 };
	struct claim_event *e;
	struct opening o;

	if (l->nwords < 3)
		return claim_bad(l, "%s", l->step);
	if (!arguments(l, &o))
		return STEP_UNTRIED;
	e = new_event(l, l->words[1]);
	if (!e)
		return claim_bad(l, "too many events: %s", l->step);
	if (!strcmp(l->words[2], "null") || !strcmp(l->words[2], "bad"))
		return claim_judge(l, open_at(l, (void *)(uintptr_t)(*l->words[2] == 'b'), &o));
	if (!event_list_add(&list, l->host, l->words[2]))
		return claim_untried(l, "%s: %s", l->words[2], list.why);
	e->fd = open_bytes(l, &list.events[0].attr, &o, e->attr);
	e->backward = event_get(&list.events[0], ATTR_WRITE_BACKWARD);
	event_list_free(&list);
	return *l->told->reason ? STEP_UNTRIED : claim_judge(l, e->fd);
}

/* The others ------------------------------------------------------------------------- */

enum step_end claim_close(struct claim_run *l)
{
	struct claim_event *e = subject(l);
	int fd;

	if (!e)
		return STEP_UNTRIED;
	fd = e->fd;
	e->fd = -1;
	return claim_judge(l, own_call_close(&l->own_calls, fd));
}

/* read NAME [BYTES] */
enum step_end claim_read(struct claim_run *l)
{
	struct claim_event *e = subject(l);
	uint64_t size = sizeof(e->words);

	if (!e || (l->nwords > 2 && !claim_value(l, l->words[2], &size)))
		return STEP_UNTRIED;
	if (size > sizeof(e->words))
		return claim_bad(l, "%s", l->step);
	return claim_judge(l, own_call_read(&l->own_calls, e->fd, e->words, size));
}

/* The bytes of the event that text describes, for MODIFY_ATTRIBUTES. */
static bool attr_argument(struct claim_run *l, const char *text, uint8_t *memory)
{
	struct event_list list = { 0 };

	if (!event_list_add(&list, l->host, text)) {
		claim_untried(l, "%s: %s", text, list.why);
		return false;
	}
	memcpy(memory, list.events[0].attr.bytes, list.events[0].attr.len);
	event_list_free(&list);
	return true;
}

/* ids_len ends a page that is read-only, and prog_cnt begins the next one; 0: cannot be. */
static uint64_t kept_query(uint32_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return 0;
	memcpy(p + page - sizeof(n), &n, sizeof(n));
	return mprotect(p, page, PROT_READ) ? 0 : (uintptr_t)p + page - sizeof(n);
}

/* "TEXT" N: with blanks behind it, N bytes long. */
static bool pad_text(struct claim_run *l, const char *bytes)
{
	char *text = (char *)l->memory;
	size_t len = strlen(text);
	uint64_t n;

	if (!claim_value(l, bytes, &n) || n < len || n >= CLAIM_MEMORY)
		return false;
	memset(text + len, ' ', n - len);
	text[n] = '\0';
	return true;
}

/*
 * EVENT: its descriptor; &EXPRESSION: the address of that; "TEXT": of that; @EVENT: of its
 * attr; query:N: of a struct perf_event_query_bpf with room for N; kept:N: of one whose
 * ids_len cannot be written; EXPRESSION: itself.
 */
static bool ioctl_argument(struct claim_run *l, const char *word, uint8_t *memory, uint64_t *arg)
{
	const struct claim_event *e = claim_event(l, word);
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
		return attr_argument(l, word + 1, memory);
	case '&':
		if (!claim_value(l, word + 1, &v))
			return false;
		memcpy(memory, &v, sizeof(v));
		return true;
	}
	if (!strncmp(word, "kept:", 5))
		return claim_value(l, word + 5, &v) && (*arg = kept_query((uint32_t)v));
	if (strncmp(word, "query:", 6))
		return claim_value(l, word, arg);
	memset(memory, 0xee, sizeof(l->query));
	return claim_value(l, word + 6, &v) && memcpy(memory, &v, 4);
}

/* ioctl NAME REQUEST [ARGUMENT [BYTES]]; REQUEST as in the header without PERF_EVENT_IOC_ */
enum step_end claim_ioctl(struct claim_run *l)
{
	struct claim_event *e = subject(l);
	uint64_t request = 0, arg = 0;
	int64_t result;

	if (!e || l->nwords < 3)
		return claim_bad(l, "%s", l->step);
	for (size_t i = 0; i < ioctl_ndescs && !request; i++)
		if (!strcmp(ioctl_descs[i].name + strlen("PERF_EVENT_IOC_"), l->words[2]))
			request = sizeof(long) == 8 ? ioctl_descs[i].request :
				  ioctl_descs[i].compat;
	memset(l->memory, 0, sizeof(l->memory));
	if ((!request && !claim_value(l, l->words[2], &request)) ||
	    (l->nwords > 3 && !ioctl_argument(l, l->words[3], l->memory, &arg)) ||
	    (l->nwords > 4 && !pad_text(l, l->words[4])))
		return *l->told->reason ? STEP_UNTRIED : claim_bad(l, "%s", l->step);
	result = own_call_ioctl(&l->own_calls, e->fd, (uint32_t)request, arg);
	memcpy(&l->out, l->memory, sizeof(l->out));
	memcpy(l->query, l->memory, sizeof(l->query));
	l->size = layout_get(&layout_perf_event_attr, ATTR_SIZE, l->memory, CLAIM_ATTR);
	return claim_judge(l, result);
}

/* map NAME PAGES [r|w|rw|rwx] [private] [at=BYTES]: from at 0 on it is the ring */
enum step_end claim_map(struct claim_run *l)
{
	struct claim_event *e = subject(l);
	uint64_t pages, at = 0, page = (uint64_t)sysconf(_SC_PAGESIZE);
	int prot = PROT_READ | PROT_WRITE;
	int64_t result;

	if (!e || l->nwords < 3 || !claim_value(l, l->words[2], &pages) ||
	    option(l, "at", &at) < 0)
		return *l->told->reason ? STEP_UNTRIED : claim_bad(l, "%s", l->step);
	if (has_word(l, "r"))
		prot = PROT_READ;
	if (has_word(l, "w"))
		prot = PROT_WRITE;
	if (has_word(l, "rwx"))
		prot |= PROT_EXEC;
	result = own_call(&l->own_calls, CALL_MMAP, (const uint64_t[CALL_MAX_ARGS]){
		0, pages * page, (uint64_t)prot, has_word(l, "private") ? MAP_PRIVATE : MAP_SHARED,
		(uint64_t)(int64_t)e->fd, at,
	});
	if (!(result < 0 && result > -4096) && !at && !e->ring) {
		e->ring = (uint8_t *)(uintptr_t)result;
		e->ring_len = pages * page;
		e->overwrite = !(prot & PROT_WRITE);
	}
	return claim_judge(l, result < 0 && result > -4096 ? result : 0);
}

enum step_end claim_unmap(struct claim_run *l)
{
	struct claim_event *e = subject(l);
	uint8_t *ring;

	if (!e)
		return STEP_UNTRIED;
	ring = e->ring;
	e->ring = NULL;
	return claim_judge(l, own_call_unmap(&l->own_calls, ring, e->ring_len));
}

/* protect NAME: makes the mapping writable that was not. */
enum step_end claim_protect(struct claim_run *l)
{
	struct claim_event *e = subject(l);

	if (!e || !e->ring)
		return claim_bad(l, "%s", l->step);
	claim_trace_note(l->trace, "mprotect(ring, PROT_READ|PROT_WRITE)");
	return claim_judge(l, mprotect(e->ring, e->ring_len, PROT_READ | PROT_WRITE) ? -errno : 0);
}

/* poke NAME FIELD EXPRESSION: writes into the first page of what is mapped. */
enum step_end claim_poke(struct claim_run *l)
{
	const struct layout *p = &layout_perf_event_mmap_page;
	struct claim_event *e = subject(l);
	uint64_t v;
	size_t i = 0;

	if (!e || l->nwords != 4 || !e->ring || e->overwrite)
		return claim_bad(l, "%s", l->step);
	if (!claim_value(l, l->words[3], &v))
		return STEP_UNTRIED;
	while (i < p->n && strcmp(p->fields[i].name, l->words[2]))
		i++;
	if (i == p->n)
		return claim_bad(l, "%s", l->step);
	claim_trace_note(l->trace, l->step);
	field_set(&p->fields[i], v, e->ring);
	return STEP_GOES_ON;
}

/* poll NAME: what it says at once. */
enum step_end claim_poll(struct claim_run *l)
{
	struct claim_event *e = subject(l);
	struct pollfd p = { .fd = e ? e->fd : -1, .events = POLLIN };
	struct timespec now = { 0, 0 };
	int64_t n;

	if (!e)
		return STEP_UNTRIED;
	n = own_call(&l->own_calls, CALL_PPOLL, (const uint64_t[CALL_MAX_ARGS]){
		(uintptr_t)&p, 1, (uintptr_t)&now, 0, 8,
	});
	return claim_judge(l, n < 0 ? n : p.revents);
}

/* prctl OPERATION */
enum step_end claim_prctl(struct claim_run *l)
{
	uint64_t op;

	if (l->nwords != 2 || !claim_value(l, l->words[1], &op))
		return STEP_UNTRIED;
	return claim_judge(l, own_call(&l->own_calls, CALL_PRCTL,
				  (const uint64_t[CALL_MAX_ARGS]){ op }));
}

/* fcntl NAME COMMAND [EXPRESSION|owner]; owner: a struct f_owner_ex of this thread */
enum step_end claim_fcntl(struct claim_run *l)
{
	const struct f_owner_ex owner = { .type = F_OWNER_TID, .pid = gettid() };
	struct claim_event *e = subject(l);
	uint64_t cmd, arg = 0;

	if (!e || l->nwords < 3 || !claim_value(l, l->words[2], &cmd))
		return STEP_UNTRIED;
	if (l->nwords > 3 && !strcmp(l->words[3], "owner"))
		arg = (uintptr_t)&owner;
	else if (l->nwords > 3 && !claim_value(l, l->words[3], &arg))
		return STEP_UNTRIED;
	return claim_judge(l, own_call(&l->own_calls, CALL_FCNTL, (const uint64_t[CALL_MAX_ARGS]){
		(uint64_t)(int64_t)e->fd, cmd, arg,
	}));
}
