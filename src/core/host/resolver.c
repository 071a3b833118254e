// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/host/resolver.h"

#ifdef HAVE_LIBDW
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/host/resolver_internal.h"
#include "core/lib/child.h"
#include "core/lib/clock.h"
#include "core/lib/die.h"
#include "core/lib/hash.h"
#include "core/lib/late.h"
#include "core/lib/map.h"

enum { MAX_DEATHS = 8, MAX_KEPT = 1 << 16 };

/* Limit of the time in which a failure may come from a helper that was exiting, being idle. */
static const uint64_t retry_ns = 500000000;

/* mapping.file of a file that cannot be read */
static const uint64_t no_file = UINT64_MAX;

struct resolver {
	const char *proc;
	int socket;		/* to the helper; -1: not running */
	uint64_t started;	/* number of helpers */
	unsigned int deaths;
	struct map kept;	/* hash of file, offset and after_call to struct code */
};

struct resolver *resolver_new(const char *proc)
{
	struct resolver *r = xcalloc(1, sizeof(*r));

	r->proc = proc;
	r->socket = -1;
	return r;
}

static void resolver_stop(struct resolver *r)
{
	if (r->socket >= 0)
		close(r->socket);
	r->socket = -1;
}

void resolver_free(struct resolver *r)
{
	if (!r)
		return;
	resolver_stop(r);
	map_free_values(&r->kept);
	free(r);
}

/*
 * Start the helper as a grandchild: a tracer, which waits for any child, never sees it.  It
 * exits when the socket closes.
 */
static bool resolver_start(struct resolver *r)
{
	int pair[2];
	pid_t child;

	if (!LATE_LOAD(LIBDW)) {
		r->deaths = MAX_DEATHS;
		return false;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return false;
	r->started++;
	child = fork();
	if (!child) {
		if (fork())
			_exit(0);
		resolver_run(pair[1], r->proc, r->started << 32);
	}
	close(pair[1]);
	r->socket = pair[0];
	child_wait(child);
	if (child < 0)
		resolver_stop(r);
	return child > 0;
}

/* Ask once; return false if the helper died, hangs or sends an invalid answer. */
static bool resolver_exchange(struct resolver *r, const struct resolver_request *request,
		     struct resolver_answer *a)
{
	size_t size = offsetof(struct resolver_request, path) + strlen(request->path) + 1;
	/* the helper's own limit comes first */
	uint64_t now, until = clock_ns() + (RESOLVER_ALL_S + 2) * 1000000000ULL;
	ssize_t n;

	do
		n = send(r->socket, request, size, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)size)
		return false;
	while ((now = clock_ns()) < until) {
		struct pollfd p = { .fd = r->socket, .events = POLLIN };

		poll(&p, 1, (int)((until - now) / 1000000 + 1));
		n = recv(r->socket, a, sizeof(*a), MSG_DONTWAIT);
		if (n >= 0 || (errno != EINTR && errno != EAGAIN))
			return n >= (ssize_t)offsetof(struct resolver_answer, code) &&
			       code_valid(&a->code,
					  (size_t)n - offsetof(struct resolver_answer, code));
	}
	return false;
}

/* Ask, and ask a new helper if the old one has exited, being idle. */
static bool resolver_ask(struct resolver *r, const struct resolver_request *request,
		struct resolver_answer *a)
{
	uint64_t start = clock_ns();
	bool fresh;

	do {
		fresh = r->socket < 0;
		if (r->deaths >= MAX_DEATHS || (fresh && !resolver_start(r)))
			return false;
		if (resolver_exchange(r, request, a))
			return true;
		resolver_stop(r);
	} while (!fresh && clock_ns() - start < retry_ns);
	if (!r->deaths++)
		warn("cannot name the functions of a mapped file: libdw crashed or hung on it");
	return false;
}

static uint64_t resolver_key(uint64_t file, uint64_t offset, bool after_call)
{
	return hash_word(hash_word(hash_word(HASH_START, file), offset), after_call);
}

static const struct code *resolver_keep(struct resolver *r, uint64_t key, const struct code *c)
{
	struct code *copy = xmalloc(code_size(c));

	memcpy(copy, c, code_size(c));
	if (r->kept.len >= MAX_KEPT)
		map_free_values(&r->kept);
	free(map_set(&r->kept, key, copy));
	return copy;
}

const struct code *resolver_find(struct resolver *r, pid_t pid, struct mapping *m,
				 uint64_t offset, bool after_call)
{
	struct resolver_request request = {
		.pid = pid, .after_call = after_call, .file = m->file,
		.start = m->start, .end = m->end, .offset = offset,
	};
	const struct code *c;
	struct resolver_answer a;
	size_t len = strlen(m->path);

	if (m->file == no_file || m->path[0] != '/' || len >= sizeof(request.path))
		return NULL;
	c = m->file ? map_get(&r->kept, resolver_key(m->file, offset, after_call)) : NULL;
	if (c)
		return c;
	memcpy(request.path, m->path, len + 1);
	if (!resolver_ask(r, &request, &a) || !a.file) {
		m->file = no_file;
		return NULL;
	}
	m->file = a.file;
	return resolver_keep(r, resolver_key(a.file, offset, after_call), &a.code);
}
#else
#include <stddef.h>

struct resolver *resolver_new(const char *proc)
{
	(void)proc;
	return NULL;
}

void resolver_free(struct resolver *r)
{
	(void)r;
}

const struct code *resolver_find(struct resolver *r, pid_t pid, struct mapping *m,
				 uint64_t offset, bool after_call)
{
	(void)r;
	(void)pid;
	(void)m;
	(void)offset;
	(void)after_call;
	return NULL;
}
#endif
