// SPDX-License-Identifier: LGPL-2.1-or-later
/* The helper process of the resolver. */
#include "core/host/resolver_internal.h"

#ifdef HAVE_LIBDW
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/host/debug_info.h"
#include "core/host/mapped_file.h"
#include "core/lib/buf.h"
#include "core/lib/helper.h"

enum { MAX_FILES = 64, IDLE_MS = 2000 };

struct file {
	uint64_t id;		/* 0: free */
	uint64_t used;
	struct stat st;
	struct debug_info *info;
};

struct helper {
	const char *proc;
	uint64_t last_id;
	uint64_t clock;		/* counts uses, to find the oldest */
	struct file files[MAX_FILES];
};

/* Open the file as the process sees it; or by the mapping, if the file was deleted. */
static int resolver_open_mapped(const struct helper *h, const struct resolver_request *r,
				struct buf *path)
{
	int fd = mapped_file_open(h->proc, r->pid, r->path, path);

	if (fd >= 0)
		return fd;
	buf_reset(path);
	buf_addf(path, "%s/%d/map_files/%" PRIx64 "-%" PRIx64, h->proc, (int)r->pid,
		 r->start, r->end);
	return mapped_file_open_regular(buf_str(path));
}

static bool resolver_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	       a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Return the entry of the file if it is known, else the least recently used one, emptied. */
static struct file *resolver_place(struct helper *h, const struct stat *st)
{
	struct file *oldest = &h->files[0];

	for (size_t i = 0; i < MAX_FILES; i++) {
		struct file *f = &h->files[i];

		if (f->id && resolver_same_file(&f->st, st))
			return f;
		if (f->used < oldest->used)
			oldest = f;
	}
	debug_info_free(oldest->info);
	*oldest = (struct file){ 0 };
	return oldest;
}

static struct file *resolver_open_file(struct helper *h, const struct resolver_request *r)
{
	struct buf path = { 0 };
	int fd = resolver_open_mapped(h, r, &path);
	struct file *f = NULL;
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st)) {
		f = resolver_place(h, &st);
		if (f->id) {
			close(fd);
		} else {
			f->id = ++h->last_id;
			f->st = st;
			f->info = debug_info_new(fd, buf_str(&path));
		}
	}
	buf_free(&path);
	return f;
}

static struct file *resolver_file(struct helper *h, const struct resolver_request *r)
{
	for (size_t i = 0; r->file && i < MAX_FILES; i++)
		if (h->files[i].id == r->file)
			return &h->files[i];
	return resolver_open_file(h, r);
}

static void resolver_serve(struct helper *h, const struct resolver_request *r)
{
	static struct resolver_answer a;
	size_t size;
	struct file *f;

	helper_limit(RESOLVER_CPU_S, RESOLVER_ALL_S);
	a.file = 0;
	code_start(&a.code);
	f = resolver_file(h, r);
	if (f) {
		f->used = ++h->clock;
		a.file = f->id;
		debug_info_find(f->info, r->offset, r->after_call, &a.code);
	}
	helper_limit(0, 0);
	size = offsetof(struct resolver_answer, code) + code_size(&a.code);
	if (send(HELPER_SOCKET, &a, size, MSG_NOSIGNAL) != (ssize_t)size)
		_exit(1);
}

_Noreturn void resolver_run(int socket, const char *proc, uint64_t first_file)
{
	struct pollfd p = { .fd = HELPER_SOCKET, .events = POLLIN };
	struct helper h = { .proc = proc, .last_id = first_file };
	struct resolver_request r;

	helper_seclude("pevtrace names", socket);
	/* a tracer that is init is the parent, and waits for the end of every child */
	while (poll(&p, 1, IDLE_MS) > 0 && recv(HELPER_SOCKET, &r, sizeof(r), 0) > 0)
		resolver_serve(&h, &r);
	_exit(0);
}
#endif
