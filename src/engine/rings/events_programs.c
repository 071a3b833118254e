// SPDX-License-Identifier: LGPL-2.1-or-later
/* Loading and reading the BPF iterators of events.bpf.c. */
#include "engine/rings/events.h"

#ifdef HAVE_BPF_PROGRAMS

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/lib/die.h"
#include "core/lib/late.h"

/* events.bpf.c, compiled: events_bpf.o as an array. */
static const unsigned char object_bytes[] = {
#include "engine/rings/events_bpf.inc"
};

/* The BTF of the kernel, with which libbpf adapts the programs. */
#define KERNEL_TYPES "/sys/kernel/btf/vmlinux"

struct events_programs {
	struct bpf_object *object;
	struct bpf_link *descriptors, *mappings;
	struct bpf_link *kernel, *links;	/* may be NULL */
	int own;	/* the event by which the programs know the files of events */
};

static struct bpf_program *programs_named(const struct bpf_object *o, const char *name)
{
	return BPF(bpf_object__find_program_by_name)(o, name);
}

/* Open the object, with own as its constant; optional: whether to load links, too. */
static struct bpf_object *programs_object(int own, bool with_links)
{
	struct bpf_object_open_opts how;
	struct bpf_object *o;
	struct bpf_map *m;

	/* libbpf refuses padding that is not zero */
	memset(&how, 0, sizeof(how));
	how.sz = sizeof(how);
	how.object_name = "pevtrace";
	o = BPF(bpf_object__open_mem)(object_bytes, sizeof(object_bytes), &how);
	if (!o)
		return NULL;
	m = BPF(bpf_object__find_map_by_name)(o, ".rodata");
	if (!m)
		m = BPF(bpf_object__find_map_by_name)(o, "pevtrace.rodata");
	BPF(bpf_program__set_autoload)(programs_named(o, "events_links"), with_links);
	if (!m || BPF(bpf_map__set_initial_value)(m, &own, sizeof(own)) || BPF(bpf_object__load)(o)) {
		int error = errno;

		BPF(bpf_object__close)(o);
		errno = error;
		return NULL;
	}
	return o;
}

static struct bpf_link *programs_attach(struct events_programs *p, const char *name)
{
	struct bpf_program *program = programs_named(p->object, name);

	return BPF(bpf_program__fd)(program) < 0 ? NULL :
	       BPF(bpf_program__attach_iter)(program, NULL);
}

struct events_programs *events_programs_load(struct buf *why)
{
	struct events_programs *p = xcalloc(1, sizeof(*p));
	/* it counts nothing and requires no privilege */
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(a), .config = PERF_COUNT_SW_DUMMY,
		.disabled = 1, .exclude_kernel = 1, .exclude_hv = 1,
	};
	sigset_t all, mask;
	int error = 0;

	BPF(libbpf_set_print)(NULL);
	p->own = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (p->own < 0) {
		buf_addf(why, "perf_event_open(2) fails: %s", strerror(errno));
	} else {
		/* the verifier gives up with EAGAIN when a signal comes, such as a tracer's timer's */
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, &mask);
		/* iterators of links require Linux 5.19 */
		p->object = programs_object(p->own, true);
		if (!p->object)
			p->object = programs_object(p->own, false);
		error = errno;
		sigprocmask(SIG_SETMASK, &mask, NULL);
	}
	if (p->own >= 0 && !p->object) {
		buf_adds(why, "cannot load BPF programs: ");
		/* libbpf found no types of the kernel */
		if (error == ESRCH && access(KERNEL_TYPES, R_OK))
			buf_addf(why, KERNEL_TYPES " cannot be read: %s", strerror(errno));
		else
			buf_addf(why, "%s%s", strerror(error), error == EPERM || error == EACCES ?
				 "; they require root, or CAP_BPF and CAP_PERFMON" : "");
	}
	if (p->object) {
		p->descriptors = programs_attach(p, "events_descriptors");
		p->mappings = p->descriptors ? programs_attach(p, "events_mappings") : NULL;
		if (p->mappings) {
			p->kernel = programs_attach(p, "events_kernel");
			p->links = programs_attach(p, "events_links");
			return p;
		}
		buf_addf(why, "cannot create BPF iterators: %s", strerror(errno));
	}
	events_programs_free(p);
	return NULL;
}

/* Read all records of one iterator. */
static bool programs_each(struct bpf_link *link,
			  void (*hook)(void *ctx, const struct events_record *r), void *ctx)
{
	int fd = BPF(bpf_iter_create)(BPF(bpf_link__fd)(link));
	struct events_record records[16];
	char *bytes = (char *)records;
	size_t have = 0;
	ssize_t n;

	if (fd < 0)
		return false;
	/* a read may end within a record, and restarts where it was interrupted */
	while ((n = read(fd, bytes + have, sizeof(records) - have)) > 0 ||
	       (n < 0 && (errno == EINTR || errno == EAGAIN))) {
		size_t whole;

		have += n > 0 ? (size_t)n : 0;
		whole = have / sizeof(*records);
		for (size_t i = 0; i < whole; i++)
			hook(ctx, &records[i]);
		have -= whole * sizeof(*records);
		memmove(bytes, bytes + whole * sizeof(*records), have);
	}
	close(fd);
	return !n;
}

bool events_programs_run(struct events_programs *p, bool *links,
			 void (*hook)(void *ctx, const struct events_record *r), void *ctx)
{
	if (p->kernel)
		programs_each(p->kernel, hook, ctx);
	*links = p->links && programs_each(p->links, hook, ctx);
	return programs_each(p->descriptors, hook, ctx) && programs_each(p->mappings, hook, ctx);
}

void events_programs_free(struct events_programs *p)
{
	if (!p)
		return;
	BPF(bpf_link__destroy)(p->descriptors);
	BPF(bpf_link__destroy)(p->mappings);
	BPF(bpf_link__destroy)(p->kernel);
	BPF(bpf_link__destroy)(p->links);
	BPF(bpf_object__close)(p->object);
	if (p->own >= 0)
		close(p->own);
	free(p);
}

#else

struct events_programs *events_programs_load(struct buf *why)
{
	buf_adds(why, "pevtrace was built without BPF programs (clang, libbpf-dev)");
	return NULL;
}

bool events_programs_run(struct events_programs *p, bool *links,
			 void (*hook)(void *ctx, const struct events_record *r), void *ctx)
{
	(void)p, (void)hook, (void)ctx;
	*links = false;
	return false;
}

void events_programs_free(struct events_programs *p)
{
	(void)p;
}

#endif
