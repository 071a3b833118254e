// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/tables.h"
#include "core/host/symbols.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/host/resolver_internal.h"
#include "core/host/symtab.h"
#include "core/lib/buf.h"
#include "core/lib/clock.h"
#include "core/lib/die.h"
#include "core/lib/hash.h"
#include "core/lib/late.h"
#include "core/lib/map.h"
#include "core/lib/maps.h"
#include "core/lib/program.h"
#include "core/lib/scan_text.h"

enum { MAX_DEATHS = 8, MAX_KEPT = 1 << 16 };

/*
 * Symbols and source lines of addresses in mapped files, by a helper process: when a file
 * makes it crash or run too long, only the names of that file are lost.
 */
struct resolver {
	const char *proc;	/* where proc is mounted */
	int socket;		/* to the helper; -1: it is started when it is next asked */
	uint64_t started;	/* number of helpers */
	unsigned int deaths;
	struct map kept;	/* hash of file, offset and after_call to struct code */
};

static void resolver_stop(struct resolver *r)
{
	if (r->socket >= 0)
		close(r->socket);
	r->socket = -1;
}

#ifdef HAVE_LIBDW
/* Limit of the time in which a failure may come from a helper that was exiting, being idle. */
static const uint64_t retry_ns = 500000000;

/* mapping.file of a file that cannot be read */
static const uint64_t no_file = UINT64_MAX;

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

/*
 * Return what is at byte offset of the file that process pid has mapped as m, or NULL
 * if the file cannot be read or libdw is not built in.  after_call: see
 * debug_info_find().  Sets m->file.  Valid until the next call.
 */
static const struct code *resolver_find(struct resolver *r, pid_t pid, struct mapping *m,
				 uint64_t offset, bool after_call)
{
	struct resolver_request request = {
		.pid = pid, .after_call = after_call, .file = m->file,
		.start = m->start, .end = m->end, .offset = offset,
	};
	struct code *c;
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
	c = xmalloc(code_size(&a.code));
	memcpy(c, &a.code, code_size(&a.code));
	if (r->kept.len >= MAX_KEPT)
		map_free_values(&r->kept);
	free(map_set(&r->kept, resolver_key(a.file, offset, after_call), c));
	return c;
}
#else
static const struct code *resolver_find(struct resolver *r, pid_t pid, struct mapping *m,
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

static void symbols_record_mmap(struct symbols *y, const uint8_t *bytes, size_t len, size_t name_at)
{
	const struct layout *l = &layout_perf_record_mmap;

	/* ignore a record whose name has no end */
	if (len <= name_at || !memchr(bytes + name_at, '\0', len - name_at))
		return;
	symbols_map(y, (pid_t)layout_get(l, PERF_RECORD_MMAP_PID, bytes, len),
		    layout_get(l, PERF_RECORD_MMAP_ADDR, bytes, len),
		    layout_get(l, PERF_RECORD_MMAP_LEN, bytes, len),
		    layout_get(l, PERF_RECORD_MMAP_PGOFF, bytes, len),
		    (const char *)bytes + name_at);
}

void symbols_record(struct symbols *y, const uint8_t *bytes, size_t len)
{
	uint32_t type = len >= 8 ? (uint32_t)load_uint(bytes, 4) : 0;
	uint16_t misc = len >= 8 ? (uint16_t)load_uint(bytes + 4, 2) : 0;
	uint32_t pid = len >= 16 ? (uint32_t)load_uint(bytes + 8, 4) : 0;
	uint32_t second = len >= 16 ? (uint32_t)load_uint(bytes + 12, 4) : 0;

	switch (type) {
	case PERF_RECORD_MMAP:
		symbols_record_mmap(y, bytes, len, layout_perf_record_mmap.size);
		break;
	case PERF_RECORD_MMAP2: /* begins like MMAP */
		symbols_record_mmap(y, bytes, len, layout_perf_record_mmap2.size);
		break;
	case PERF_RECORD_FORK: /* of a process, if the pids differ */
		if (pid != second)
			symbols_fork(y, (pid_t)second, (pid_t)pid);
		break;
	case PERF_RECORD_COMM: /* records of the new program's mappings follow */
		if (misc & PERF_RECORD_MISC_COMM_EXEC)
			symbols_forget(y, (pid_t)pid);
		break;
	}
}

enum { MAX_SPACES = 1024, MAX_SHOWN = 1024 };

static const uint64_t second = 1000000000;

/* The address space of one process. */
struct space {
	struct maps maps;
	uint64_t read_s;	/* clock_ns() when they were read, in seconds; 0: never */
	uint64_t used;
};

struct symbols {
	const char *proc;
	bool kernel_known;
	struct symtab kernel;
	struct map spaces;	/* pid to struct space */
	struct resolver resolver;
	uint64_t clock;		/* counts uses, to find the oldest */
	struct buf text;
};

struct symbols *symbols_new(const char *proc)
{
	struct symbols *y = xcalloc(1, sizeof(*y));

	y->proc = proc ? proc : "/proc";
	y->resolver.proc = y->proc;
	y->resolver.socket = -1;
	return y;
}

static void space_free(struct space *space)
{
	if (!space)
		return;
	maps_free(&space->maps);
	free(space);
}

void symbols_free(struct symbols *y)
{
	if (!y)
		return;
	map_each(slot, &y->spaces)
		space_free(slot->value);
	map_free(&y->spaces);
	resolver_stop(&y->resolver);
	map_free_values(&y->resolver.kept);
	symtab_free(&y->kernel);
	buf_free(&y->text);
	free(y);
}

void symbols_forget(struct symbols *y, pid_t pid)
{
	space_free(map_del(&y->spaces, (uint64_t)pid));
}

/* Return the address space of a process; the one used longest ago goes if there are too many. */
static struct space *symbols_space(struct symbols *y, pid_t pid)
{
	struct space *space = map_get(&y->spaces, (uint64_t)pid);
	const struct map_slot *slot, *oldest = NULL;
	size_t at = 0;

	if (!space) {
		while (y->spaces.len >= MAX_SPACES && (slot = map_next(&y->spaces, &at)))
			if (!oldest || ((struct space *)slot->value)->used <
				       ((struct space *)oldest->value)->used)
				oldest = slot;
		if (oldest)
			symbols_forget(y, (pid_t)oldest->key);
		space = xcalloc(1, sizeof(*space));
		map_set(&y->spaces, (uint64_t)pid, space);
	}
	space->used = ++y->clock;
	return space;
}

void symbols_map(struct symbols *y, pid_t pid, uint64_t start, uint64_t len,
		 uint64_t pgoff, const char *path)
{
	if (pid > 0 && len <= UINT64_MAX - start)
		maps_add(&symbols_space(y, pid)->maps, start, start + len, pgoff,
			 path);
}

void symbols_fork(struct symbols *y, pid_t parent, pid_t child)
{
	const struct space *from = map_get(&y->spaces, (uint64_t)parent);
	struct maps copy = { 0 };

	/* a thread shares the mappings of its process */
	if (!from || parent == child || child <= 0)
		return;
	maps_copy(&copy, &from->maps);
	symbols_forget(y, child);
	symbols_space(y, child)->maps = copy;
}

static struct mapping *symbols_mapping(struct symbols *y, pid_t pid, uint64_t ip)
{
	struct space *space = symbols_space(y, pid);
	struct mapping *m = maps_find(&space->maps, ip);
	struct buf path = { 0 };
	FILE *f;

	if (m || (space->read_s == clock_ns() / second))
		return m;
	/*
	 * A mapping that is no longer there remains until another covers it, because samples are
	 * decoded later than they are taken.
	 */
	space->read_s = clock_ns() / second;
	buf_addf(&path, "%s/%d/maps", y->proc, (int)pid);
	f = fopen(buf_str(&path), "re");
	buf_free(&path);
	if (!f)
		return NULL;
	maps_read(&space->maps, f);
	fclose(f);
	return maps_find(&space->maps, ip);
}

/* Add a name, which may contain anything. */
static void symbols_put_word(struct buf *b, const char *word)
{
	size_t shown = 0;

	for (; *word && shown < MAX_SHOWN; word++, shown++) {
		unsigned char c = (unsigned char)*word;

		if (c < 0x20 || c >= 0x7f)
			buf_addf(b, "\\%03o", c);
		else
			buf_addc(b, (char)c);
	}
	if (*word)
		buf_adds(b, "...");
}

static const char *symbols_base_name(const char *path)
{
	return path[0] == '/' ? scan_base_name(path) : path;
}

static void symbols_add_symbol(struct buf *b, const char *symbol, uint64_t offset,
			       const char *module)
{
	symbols_put_word(b, symbol);
	buf_addf(b, "+0x%" PRIx64 " (", offset);
	symbols_put_word(b, module);
	buf_addc(b, ')');
}

static const char *symbols_name_user(struct symbols *y, pid_t pid, uint64_t ip, bool after_call)
{
	struct mapping *m = symbols_mapping(y, pid, ip);
	struct code_line list[CODE_LINES];
	struct buf *b = &y->text;
	const struct code *c;
	uint64_t offset;
	size_t n = 0;

	if (!m || !m->path[0])
		return NULL;
	offset = ip - m->start + m->pgoff;
	c = resolver_find(&y->resolver, pid, m, offset, after_call);
	if (c && code_symbol(c)) {
		symbols_add_symbol(b, code_symbol(c), c->offset, symbols_base_name(m->path));
	} else {
		symbols_put_word(b, symbols_base_name(m->path));
		buf_addf(b, "+0x%" PRIx64, offset);
	}
	/* " foo.c:12 (inner inlined at foo.c:42)" */
	if (c)
		n = code_get_lines(c, list);
	for (size_t i = 0; i < n; i++) {
		buf_adds(b, i > 1 ? ", " : i ? " (" : " ");
		if (i) {
			symbols_put_word(b, list[i - 1].function);
			buf_adds(b, " inlined at ");
		}
		symbols_put_word(b, scan_base_name(list[i].file));
		buf_addf(b, ":%" PRIu32, list[i].line);
	}
	if (n > 1)
		buf_addc(b, ')');
	return buf_str(b);
}

const char *symbols_name(struct symbols *y, pid_t pid, uint64_t ip, bool kernel,
			 bool after_call)
{
	const struct symtab_entry *e;
	const char *module;
	struct buf path = { 0 };

	buf_reset(&y->text);
	if (!kernel)
		return pid > 0 ? symbols_name_user(y, pid, ip, after_call) : NULL;
	if (!y->kernel_known) {
		buf_addf(&path, "%s/kallsyms", y->proc);
		symtab_read_kallsyms(&y->kernel, buf_str(&path));
		buf_free(&path);
		y->kernel_known = true;
	}
	e = symtab_find(&y->kernel, ip - after_call);
	if (!e)
		e = symtab_find(&y->kernel, ip);
	if (!e)
		return NULL;
	module = symtab_module(&y->kernel, e);
	symbols_add_symbol(&y->text, symtab_name(&y->kernel, e), ip - e->addr,
			   module ? module : "kernel");
	return buf_str(&y->text);
}

const struct code *symbols_code(struct symbols *y, pid_t pid, uint64_t ip, bool after_call)
{
	struct mapping *m = pid > 0 ? symbols_mapping(y, pid, ip) : NULL;

	return m ? resolver_find(&y->resolver, pid, m, ip - m->start + m->pgoff, after_call) :
	       NULL;
}

bool symbols_of_files(void)
{
#ifdef HAVE_LIBDW
	return true;
#else
	return false;
#endif
}
