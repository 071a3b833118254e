// SPDX-License-Identifier: LGPL-2.1-or-later
/* Arguments of the calls that wait for descriptors. */
#include "core/abi/args.h"

#include <string.h>

#include "core/abi/strings.h"
#include "core/abi/tables.h"

#define POLLFD_SIZE 8
#define SHORT_POLL 64		/* entries in short form */

/* poll ---------------------------------------------------------------- */

static void emit_pollfd(const struct arg *a, const uint8_t *p, unsigned int which,
			struct sink *s)
{
	int fd = (int)layout_get(&layout_pollfd, POLLFD_FD, p, POLLFD_SIZE);
	const struct field *f = &layout_pollfd.fields[which];

	sink_begin(s, NULL, SINK_OBJECT);
	sink_fd(s, "fd", fd, arg_fd_label(a, fd));
	sink_flags(s, f->name, f->xlat, field_get(f, p, POLLFD_SIZE));
	sink_end(s);
}

void arg_emit_pollfds(const struct arg *a, struct sink *s)
{
	uint64_t n = (uint32_t)a->call->args[a->i + 1];
	size_t len, got;
	const uint8_t *p = call_bytes(a->call, AT_SYSCALL_ENTER, arg_word(a), SIZE_MAX, &len);

	got = len / POLLFD_SIZE;
	if (!n && arg_word(a)) {
		sink_begin(s, arg_name(a), SINK_ARRAY);
		sink_end(s);
		return;
	}
	if (!p || !got) {
		call_emit_unreadable(arg_name(a), arg_word(a), s);
		return;
	}
	sink_begin(s, arg_name(a), SINK_ARRAY);
	if (!s->full && got > SHORT_POLL)
		got = SHORT_POLL;
	for (size_t i = 0; i < got; i++)
		emit_pollfd(a, p + i * POLLFD_SIZE, POLLFD_EVENTS, s);
	if (got < n && got == len / POLLFD_SIZE && n * POLLFD_SIZE <= MEMORY_RUN)
		sink_notef(s, "unreadable", "unreadable from entry %zu on", got);
	else if (got < n)
		sink_notef(s, "more", "%llu more", (unsigned long long)(n - got));
	sink_end(s);
}

void arg_result_pollfds(const struct arg *a, struct sink *s)
{
	size_t len;
	const uint8_t *p = call_bytes(a->call, AT_SYSCALL_EXIT, arg_word(a), SIZE_MAX, &len);

	if (!p)
		return;
	sink_begin(s, arg_name(a), SINK_ARRAY);
	for (; len >= POLLFD_SIZE; len -= POLLFD_SIZE, p += POLLFD_SIZE)
		if (layout_get(&layout_pollfd, POLLFD_REVENTS, p, POLLFD_SIZE))
			emit_pollfd(a, p, POLLFD_REVENTS, s);
	sink_end(s);
	call_note_unwritten(a->call, s);
}

/* select -------------------------------------------------------------- */

static size_t fdset_bytes(const struct call *c)
{
	int nfds = call_int(c, 0);
	size_t word = c->arch->word, bytes;

	if (nfds <= 0)
		return 0;
	bytes = ((size_t)nfds + 8 * word - 1) / (8 * word) * word;
	return bytes < MEMORY_FDSET_BYTES ? bytes : MEMORY_FDSET_BYTES;
}

void arg_capture_fdset(const struct arg *a, struct call *c,
		       enum call_phase phase, const struct mem *m)
{
	if (phase == AT_SYSCALL_ENTER || call_gave(c))
		capture_bytes(c, phase, arg_word(a), fdset_bytes(c), m);
}

static void emit_set(const struct arg *a, enum call_phase phase, const char *key,
		     struct sink *s)
{
	int nfds = call_int(a->call, 0);
	size_t len;
	const uint8_t *p = call_bytes(a->call, phase, arg_word(a), fdset_bytes(a->call), &len);

	len -= len % a->call->arch->word;
	if ((!len && nfds > 0) || !arg_word(a)) {
		call_emit_unreadable(key, arg_word(a), s);
		return;
	}
	sink_begin(s, key, SINK_ARRAY);
	for (int fd = 0; fd < nfds && (size_t)fd < 8 * len; fd++)
		if (p && call_set_has(a->call, p, len, (size_t)fd))
			sink_fd(s, NULL, fd, arg_fd_label(a, fd));
	/* the kernel reads no more of a set than the task may have descriptors */
	if (len < fdset_bytes(a->call))
		sink_notef(s, "unreadable", "unreadable from fd %zu on", 8 * len);
	sink_end(s);
}

void arg_emit_fdset(const struct arg *a, struct sink *s)
{
	emit_set(a, AT_SYSCALL_ENTER, arg_name(a), s);
}

void arg_result_fdset(const struct arg *a, struct sink *s)
{
	static const char *const words[] = { NULL, "in", "out", "except" };
	size_t len;
	const uint8_t *p = call_bytes(a->call, AT_SYSCALL_EXIT, arg_word(a), SIZE_MAX, &len);

	if (!p)
		return;
	for (size_t i = 0; i < len; i++) {
		if (p[i]) {
			emit_set(a, AT_SYSCALL_EXIT, words[a->i], s);
			call_note_unwritten(a->call, s);
			return;
		}
	}
}

/* times --------------------------------------------------------------- */

/* Write two integers: seconds, and a fraction. */
static void emit_time(const struct arg *a, enum call_phase phase, const char *key,
		      struct sink *s)
{
	enum arg_kind kind = arg_desc(a)->kind;
	size_t word = kind == ARG_TIMESPEC64 ? 8 : a->call->arch->word;
	const char *sub = kind == ARG_TIMEVAL ? "tv_usec" : "tv_nsec";
	const uint8_t *p = call_bytes_or_note(a->call, phase, key, arg_word(a), 2 * word, s);

	if (!p)
		return;
	sink_begin(s, key, SINK_OBJECT);
	if (word == 4) {
		sink_sint(s, "tv_sec", (int32_t)load_uint(p, 4));
		sink_sint(s, sub, (int32_t)load_uint(p + 4, 4));
	} else {
		sink_sint(s, "tv_sec", (int64_t)load_uint(p, 8));
		sink_sint(s, sub, (int64_t)load_uint(p + 8, 8));
	}
	sink_end(s);
}

void arg_emit_time(const struct arg *a, struct sink *s)
{
	emit_time(a, AT_SYSCALL_ENTER, arg_name(a), s);
}

/* Write the remaining time, which the kernel stores except for epoll_pwait2. */
void arg_result_time(const struct arg *a, struct sink *s)
{
	size_t len;

	if (a->call->desc->id == CALL_EPOLL_PWAIT2 ||
	    !call_bytes(a->call, AT_SYSCALL_EXIT, arg_word(a), 1, &len))
		return;
	emit_time(a, AT_SYSCALL_EXIT, "left", s);
	call_note_unwritten(a->call, s);
}

/* signal masks -------------------------------------------------------- */

static void emit_mask(const struct arg *a, const char *key, uint64_t addr, struct sink *s)
{
	const uint8_t *p = call_bytes_or_note(a->call, AT_SYSCALL_ENTER, key, addr, 8, s);
	struct buf text = { 0 };
	uint64_t mask, listed;
	char name[32];
	size_t head;

	if (!p)
		return;
	mask = load_uint(p, 8);
	/* for large masks the complement is shorter */
	listed = __builtin_popcountll(mask) > 32 ? ~mask : mask;
	buf_adds(&text, listed == mask ? "[" : "~[");
	head = text.len;
	for (int sig = 1; sig <= 64; sig++)
		if (listed >> (sig - 1) & 1 && signal_name(sig, name, sizeof(name)))
			buf_addf(&text, "%s%s", text.len > head ? " " : "", name + strlen("SIG"));
	buf_addc(&text, ']');
	sink_symbol(s, key, buf_str(&text));
	buf_free(&text);
}

void arg_emit_sigset(const struct arg *a, struct sink *s)
{
	emit_mask(a, arg_name(a), arg_word(a), s);
}

void arg_capture_sigset_pair(const struct arg *a, struct call *c,
			     enum call_phase phase, const struct mem *m)
{
	size_t len, want = 2u * c->arch->word;
	const uint8_t *pair;

	if (phase != AT_SYSCALL_ENTER)
		return;
	capture_bytes(c, phase, arg_word(a), want, m);
	/* {address of a mask, its size} */
	pair = call_bytes(c, phase, arg_word(a), want, &len);
	if (len == want)
		capture_bytes(c, phase, load_uint(pair, c->arch->word), 8, m);
}

void arg_emit_sigset_pair(const struct arg *a, struct sink *s)
{
	size_t word = a->call->arch->word;
	const uint8_t *pair = call_bytes_or_note(a->call, AT_SYSCALL_ENTER, arg_name(a),
						 arg_word(a), 2 * word, s);

	if (!pair)
		return;
	sink_begin(s, arg_name(a), SINK_OBJECT);
	emit_mask(a, "sigmask", load_uint(pair, word), s);
	sink_uint(s, "sigsetsize", load_uint(pair + word, word));
	sink_end(s);
}

/* epoll --------------------------------------------------------------- */

static void emit_one_epoll(const uint8_t *p, size_t size, struct sink *s)
{
	/* packed on x86: data follows at once; elsewhere it is aligned */
	uint64_t data = load_uint(p + size - 8, 8);

	sink_begin(s, NULL, SINK_OBJECT);
	sink_flags(s, "events", &xlat_epoll_events, load_uint(p, 4));
	sink_begin(s, "data", SINK_OBJECT);
	sink_uint(s, "u32", (uint32_t)data);
	sink_uint(s, "u64", data);
	sink_end(s);
	sink_end(s);
}

void arg_emit_epoll_event(const struct arg *a, struct sink *s)
{
	size_t size = a->call->arch->epoll_size;
	const uint8_t *p = call_bytes_or_note(a->call, AT_SYSCALL_ENTER, arg_name(a), arg_word(a),
					      size, s);

	if (p)
		emit_one_epoll(p, size, s);
}

void arg_emit_epoll_events(const struct arg *a, struct sink *s)
{
	size_t len, size = a->call->arch->epoll_size;
	const uint8_t *p;

	if (a->call->failed || !a->call->returned) {
		sink_addr(s, arg_name(a), arg_word(a));
		return;
	}
	p = call_bytes(a->call, AT_SYSCALL_EXIT, arg_word(a), SIZE_MAX, &len);
	sink_begin(s, arg_name(a), SINK_ARRAY);
	for (; len >= size; len -= size, p += size)
		emit_one_epoll(p, size, s);
	sink_end(s);
	if (p)
		call_note_unwritten(a->call, s);
}
