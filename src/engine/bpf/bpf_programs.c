// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/bpf/bpf_programs.h"

#ifdef HAVE_BPF_PROGRAMS

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/abi/args.h"
#include "core/lib/die.h"
#include "core/lib/late.h"
#include "engine/ptrace/proc.h"

/* calls.bpf.c, compiled: calls_bpf.o as an array. */
static const unsigned char object_bytes[] = {
#include "engine/bpf/calls_bpf.inc"
};

enum { FILES = 64 }; /* descriptors that are open while programs are loaded, at most */

struct bpf_programs {
	struct bpf_object *object;
	struct bpf_link *links[8];
	size_t nlinks;
	int functions[3];	/* links to functions */
	size_t nfunctions;
	int buffer;		/* the ring buffer */
	int tasks, holders;
	struct calls_state *state;	/* mapped */
};

/* Which calls are reported, and with which memory ------------------------------------------ */

static enum calls_watch watch_of(const struct trace_options *o, const struct call_desc *d,
				 const struct arch *arch)
{
	static const uint8_t watches[] = {
		[WATCH_ALWAYS] = CALLS_ALWAYS, [WATCH_IOCTL] = CALLS_IOCTLS,
		[WATCH_BPF] = CALLS_ATTACH, [WATCH_SHARED] = CALLS_MAP_FD,
		[WATCH_PRCTL] = CALLS_PRCTL,
		[WATCH_PTRACE] = CALLS_NEVER, /* nothing here is in its way */
		[WATCH_UNSHARE] = CALLS_HELD, [WATCH_HELD] = CALLS_HELD, [WATCH_FD] = CALLS_FD,
	};
	enum call_watch watch = o->watch[d->id];

	/* the calls of i386 that pass a pointer to their arguments are not decoded here */
	if (o->unwanted[d->id] || (arch->old_mmap && d->id == CALL_MMAP) ||
	    (arch->old_select && d->id == CALL_SELECT))
		return CALLS_NEVER;
	if (watch == WATCH_UNSHARE && d->id == CALL_UNSHARE)
		return CALLS_FILES;
	if (watch == WATCH_HELD && d->nargs && d->args[0].kind == ARG_POLLFDS)
		return CALLS_POLL;
	if (watch == WATCH_HELD && d->id == CALL_RECVMSG)
		return CALLS_RECEIVE;
	if (watch == WATCH_HELD && (d->id == CALL_MUNMAP || d->id == CALL_MPROTECT ||
				    d->id == CALL_PKEY_MPROTECT))
		return CALLS_UNMAP;
	if (watch == WATCH_HELD && d->id == CALL_MREMAP)
		return CALLS_REMAP;
	return watches[watch];
}

static void plan_calls(struct calls_plan *plans, const struct nr_table *t,
		       const struct trace_options *o)
{
	for (uint32_t nr = 0; t && nr < CALLS_NUMBERS; nr++) {
		const struct call_desc *d = t->desc[nr];

		if (!d)
			continue;
		plans[nr].watch = (uint8_t)watch_of(o, d, t->arch);
		/* it may block or not return, creates tasks, or the kernel writes where it read */
		plans[nr].early = d->class == CLASS_POLL || d->class == CLASS_PASS ||
				  d->class == CLASS_PROCESS || d->class == CLASS_OPEN;
		for (unsigned int i = 0; i < d->nargs && i < CALLS_ARGS; i++)
			plans[nr].memory[i] = (uint8_t)arg_ops(d->args[i].kind)->memory;
	}
}

/* Loading --------------------------------------------------------------------------------- */

static struct bpf_map *map_named(struct bpf_programs *p, const char *name)
{
	return BPF(bpf_object__find_map_by_name)(p->object, name);
}

/* Write the kernel's structures that the programs read into a file: all without "calls_". */
static bool write_types(const struct bpf_object *o, struct kernel_types *types, int fd)
{
	const struct btf *btf = BPF(bpf_object__btf)(o);
	uint32_t n = BPF(btf__type_cnt)(btf);
	const char **names = xcalloc(n, sizeof(*names));
	size_t nnames = 0;
	bool written;

	for (uint32_t id = 1; id < n; id++) {
		const struct btf_type *t = BPF(btf__type_by_id)(btf, id);

		const char *name = BPF(btf__name_by_offset)(btf, t->name_off);

		if (btf_is_struct(t) && *name && strncmp(name, "calls_", strlen("calls_")))
			names[nnames++] = name;
	}
	written = kernel_types_subset(types, names, nnames, fd);
	free(names);
	return written;
}

/* Open the object; types: of the kernel, or NULL: libbpf reads them. */
static bool open_calls(struct bpf_programs *p, struct kernel_types *types, int fd)
{
	char path[32];
	struct bpf_object_open_opts how;

	/* libbpf refuses padding that is not zero */
	memset(&how, 0, sizeof(how));
	how.sz = sizeof(how);
	how.object_name = "pevtrace";
	how.btf_custom_path = types ? path : NULL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	p->object = BPF(bpf_object__open_mem)(object_bytes, sizeof(object_bytes), &how);
	if (p->object && types && !write_types(p->object, types, fd)) {
		BPF(bpf_object__close)(p->object);
		return open_calls(p, NULL, fd);
	}
	return p->object;
}

/* The programs that see calls, and what they are at functions: attach types that headers lack. */
enum { FENTRY_MULTI = 59, FEXIT_MULTI = 60 };

static const struct {
	const char *name;
	uint32_t type;
} call_programs[] = {
	{ "calls_enter", FENTRY_MULTI },
	{ "calls_report", FENTRY_MULTI },
	{ "calls_exit", FEXIT_MULTI },
	{ "calls_refused", FEXIT_MULTI },
	{ "calls_report_exit", FEXIT_MULTI },
};

enum { ENTER, REPORT, EXIT, REFUSED, REPORT_EXIT };	/* the last two at functions only */

enum { CALL_PROGRAMS = sizeof(call_programs) / sizeof(*call_programs) };

static struct bpf_program *program_named(const struct bpf_programs *p, const char *name)
{
	return BPF(bpf_object__find_program_by_name)(p->object, name);
}

static struct bpf_program *call_program(const struct bpf_programs *p, int which)
{
	return program_named(p, call_programs[which].name);
}

static bool load_calls(struct bpf_programs *p, const struct bpf_engine_setup *setup,
		       const struct calls_setup *constants, struct kernel_types *types)
{
	int fd = memfd_create("types", MFD_CLOEXEC);
	struct bpf_program *each = NULL;
	bool loaded = open_calls(p, fd < 0 ? NULL : types, fd);
	bool events = constants->hooks == CALLS_EVENTS, created = events && !constants->pid_ns;

	/* as without unaligned accesses, so that what such processors refuse is seen everywhere */
	while (loaded && (each = BPF(bpf_object__next_program)(p->object, each)))
		loaded = !BPF(bpf_program__set_flags)(each, BPF_F_STRICT_ALIGNMENT);
	for (int i = 0; loaded && i < CALL_PROGRAMS; i++) {
		struct bpf_program *program = call_program(p, i);

		if (constants->hooks == CALLS_FUNCTIONS) {
			BPF(bpf_program__set_type)(program, BPF_PROG_TYPE_TRACING);
			BPF(bpf_program__set_expected_attach_type)(program, call_programs[i].type);
			continue;
		}
		if (events)
			BPF(bpf_program__set_type)(program, BPF_PROG_TYPE_TRACEPOINT);
		BPF(bpf_program__set_autoload)(program, i != REFUSED && i != REPORT_EXIT);
	}
	/*
	 * New and ended tasks are seen through perf events where calls are reported so, but in a
	 * PID namespace, as the event of a new task has no id there.
	 */
	if (loaded && events)
		BPF(bpf_program__set_type)(program_named(p, "calls_gone"),
					   BPF_PROG_TYPE_TRACEPOINT);
	if (loaded) {
		BPF(bpf_program__set_autoload)(program_named(p, "calls_created"), created);
		BPF(bpf_program__set_autoload)(program_named(p, "calls_forked"), !created);
	}
	loaded = loaded &&
		 !BPF(bpf_map__set_initial_value)(map_named(p, ".rodata"), constants,
						  sizeof(*constants)) &&
		 !BPF(bpf_map__set_max_entries)(map_named(p, "calls_ring"),
						(uint32_t)setup->buffer) &&
		 !BPF(bpf_map__set_max_entries)(map_named(p, "calls_scratch"),
						constants->places *
						(uint32_t)BPF(libbpf_num_possible_cpus)()) &&
		 !BPF(bpf_object__load)(p->object);
	if (fd >= 0)
		close(fd);
	return loaded;
}

static bool keep_link(struct bpf_programs *p, struct bpf_link *link)
{
	p->links[p->nlinks] = link;
	return link && ++p->nlinks;
}

static bool attach_program(struct bpf_programs *p, const struct bpf_program *program)
{
	return keep_link(p, BPF(bpf_program__attach)(program));
}

static bool attach_event(struct bpf_programs *p, const struct bpf_program *program,
			 const char *category, const char *tracepoint)
{
	return keep_link(p, BPF(bpf_program__attach_tracepoint)(program, category, tracepoint));
}

/* Attach the programs that see tasks and signals, those that were loaded. */
static bool attach_tasks(struct bpf_programs *p, bool events)
{
	const struct bpf_program *gone = program_named(p, "calls_gone");
	struct bpf_program *program = NULL;

	while ((program = BPF(bpf_object__next_program)(p->object, program))) {
		const char *name = BPF(bpf_program__name)(program);
		bool sees_calls = false;

		for (int i = 0; i < CALL_PROGRAMS; i++)
			sees_calls |= !strcmp(call_programs[i].name, name);
		if (sees_calls || BPF(bpf_program__fd)(program) < 0)
			continue;
		if (!(events && program == gone ?
			      attach_event(p, program, "sched", "sched_process_exit") :
			      attach_program(p, program)))
			return false;
	}
	return true;
}

/* Let programs that continue in a map do so in that one. */
static bool continue_in(struct bpf_programs *p, const char *map, int which)
{
	uint32_t zero = 0, fd = (uint32_t)BPF(bpf_program__fd)(call_program(p, which));

	return !BPF(bpf_map__update_elem)(map_named(p, map), &zero, sizeof(zero), &fd, sizeof(fd), 0);
}

/* Attach a program to n functions at once, which libbpf does not know yet. */
static bool attach_to(struct bpf_programs *p, int which, const uint32_t *ids, size_t n)
{
	const struct {
		uint32_t program, target, type, flags;
		uint64_t ids, cookies;
		uint32_t n, unused;
	} attr = {
		.program = (uint32_t)BPF(bpf_program__fd)(call_program(p, which)),
		.type = call_programs[which].type, .ids = (uintptr_t)ids, .n = (uint32_t)n,
	};
	int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));

	if (fd >= 0)
		p->functions[p->nfunctions++] = fd;
	return fd >= 0;
}

/* Attach the programs that see calls, at functions unless that is NULL. */
static bool attach_calls(struct bpf_programs *p, const struct call_functions *f, bool events)
{
	if (!continue_in(p, "calls_enter_report", REPORT) ||
	    !continue_in(p, "calls_exit_report", f ? REPORT_EXIT : REPORT))
		return false;
	if (f)
		return (!f->refusal || attach_to(p, REFUSED, &f->refusal, 1)) &&
		       attach_to(p, EXIT, f->exit, f->nexit) &&
		       attach_to(p, ENTER, f->enter, f->nenter);
	if (events)
		return attach_event(p, call_program(p, ENTER), "raw_syscalls", "sys_enter") &&
		       attach_event(p, call_program(p, EXIT), "raw_syscalls", "sys_exit");
	return attach_program(p, call_program(p, ENTER)) &&
	       attach_program(p, call_program(p, EXIT));
}

/* Load and attach the programs, at functions unless that is NULL; return what failed, or NULL. */
static const char *programs_start(struct bpf_programs *p, const struct bpf_engine_setup *setup,
				  const struct calls_setup *constants,
				  struct kernel_types *types, const struct call_functions *f)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(a), .config = PERF_COUNT_SW_CPU_CLOCK,
		.disabled = 1, .exclude_kernel = 1, .exclude_hv = 1,
	};
	uint32_t zero = 0, cgroup = (uint32_t)setup->cgroup;
	int fd;
	bool events = constants->hooks == CALLS_EVENTS;

	if (!load_calls(p, setup, constants, types))
		return "cannot load BPF programs";
	p->buffer = BPF(bpf_map__fd)(map_named(p, "calls_ring"));
	p->tasks = BPF(bpf_map__fd)(map_named(p, "calls_tasks"));
	p->holders = BPF(bpf_map__fd)(map_named(p, "calls_holders"));
	p->state = mmap(NULL, sizeof(*p->state), PROT_READ | PROT_WRITE, MAP_SHARED,
			BPF(bpf_map__fd)(map_named(p, ".bss")), 0);
	if (p->state == MAP_FAILED)
		return "cannot map the state of BPF programs";
	if (setup->cgroup >= 0 &&
	    BPF(bpf_map__update_elem)(map_named(p, "calls_cgroup"), &zero, sizeof(zero), &cgroup,
				      sizeof(cgroup), 0))
		return "cannot select the cgroup";
	if (!attach_tasks(p, events) || !attach_calls(p, f, events))
		return "cannot attach BPF programs";
	/*
	 * Open an event: the programs learn from it what files of events are.  A clock of a CPU,
	 * which does not run, as the first event of a task or of another kind makes the kernel wait
	 * for RCU or patch its code.
	 */
	fd = (int)syscall(SYS_perf_event_open, &a, -1, sched_getcpu(), -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0 && __atomic_load_n(&p->state->event_fops, __ATOMIC_RELAXED) ? NULL :
	       "perf_event_open(2) of a test event was not seen";
}

static void programs_stop(struct bpf_programs *p)
{
	while (p->nfunctions)
		close(p->functions[--p->nfunctions]);
	while (p->nlinks)
		BPF(bpf_link__destroy)(p->links[--p->nlinks]);
	if (p->state && p->state != MAP_FAILED)
		munmap(p->state, sizeof(*p->state));
	BPF(bpf_object__close)(p->object);
	memset(p, 0, sizeof(*p));
}

/* Return whether the kernel attaches one program to many functions, as Linux 7.3 does. */
static bool can_attach_to_functions(void)
{
	struct bpf_prog_load_opts how;
	const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd;

	memset(&how, 0, sizeof(how));
	how.sz = sizeof(how);
	how.expected_attach_type = (enum bpf_attach_type)FENTRY_MULTI;
	fd = BPF(bpf_prog_load)(BPF_PROG_TYPE_TRACING, "pevtrace", "GPL", nothing, 2, &how);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* The same at functions. */
static const char *programs_start_functions(struct bpf_programs *p,
					    const struct bpf_engine_setup *setup,
					    struct calls_setup *constants,
					    struct kernel_types *types,
					    const struct nr_tables *nrs, const struct arch *compat)
{
	struct call_functions f = { 0 };
	const char *failed = "this kernel attaches no program to all functions of system calls";

	constants->hooks = CALLS_FUNCTIONS;
	if (types && can_attach_to_functions() &&
	    call_functions_find(&f, types, constants, nrs, compat)) {
		constants->refusal_is_false = f.refusal_size == 1;
		failed = programs_start(p, setup, constants, types, &f);
	}
	call_functions_free(&f);
	return failed;
}

/* The same at tracepoints: where programs may be preempted, through perf events if that works. */
static const char *programs_start_tracepoints(struct bpf_programs *p,
					      const struct bpf_engine_setup *setup,
					      struct calls_setup *constants,
					      struct kernel_types *types)
{
	const char *failed = "";

	if (constants->places > 1) {
		constants->hooks = CALLS_EVENTS;
		failed = programs_start(p, setup, constants, types, NULL);
		if (failed)
			programs_stop(p);
	}
	constants->hooks = CALLS_TRACEPOINTS;
	return failed ? programs_start(p, setup, constants, types, NULL) : NULL;
}

/* Return whether programs are interpreted, which those that continue in another one cannot be. */
static bool jit_is_off(void)
{
	FILE *f = fopen("/proc/sys/net/core/bpf_jit_enable", "re");
	bool off = f && getc(f) == '0';

	if (f)
		fclose(f);
	return off;
}

struct bpf_programs *bpf_programs_new(const struct bpf_engine_setup *setup,
				      const struct nr_tables *nrs, const struct arch *compat,
				      struct buf *why)
{
	struct bpf_programs *p = xcalloc(1, sizeof(*p));
	struct utsname name;
	bool preempted = uname(&name) || atoi(name.release) >= 7;
	struct calls_setup constants = {
		.own_pid = (uint32_t)getpid(), .pid_ns = proc_pid_namespace(),
		.wake = (uint32_t)setup->buffer / 4,
		.every_task = setup->everything,
		.wakes_for_tasks = setup->wakes_for_tasks,
		.in_cgroup = setup->cgroup >= 0,
		.places = preempted ? CALLS_PLACES : 1,
	};
	struct kernel_types *types = kernel_types_read();
	const char *failed = "";
	struct rlimit files;

	plan_calls(constants.plans, nr_table(nrs, arch_native()), setup->opts);
	if (compat)
		plan_calls(constants.plans + CALLS_NUMBERS, nr_table(nrs, compat), setup->opts);
	BPF(libbpf_set_print)(NULL);
	if (setup->hooks == BPF_HOOKS_FUNCTIONS ||
	    (setup->hooks == BPF_HOOKS_ANY && setup->everything))
		failed = programs_start_functions(p, setup, &constants, types, nrs, compat);
	if (failed && setup->hooks != BPF_HOOKS_FUNCTIONS) {
		programs_stop(p);
		failed = programs_start_tracepoints(p, setup, &constants, types);
	}
	kernel_types_free(types);
	if (!failed)
		return p;
	/* libbpf hides some EMFILE */
	if (errno == EINVAL && !getrlimit(RLIMIT_NOFILE, &files) && files.rlim_cur < FILES)
		errno = EMFILE;
	buf_addf(why, "%s: %s; ", failed, strerror(errno));
	if (errno == EPERM || errno == EACCES)
		buf_adds(why, "they require root, or CAP_BPF and CAP_PERFMON");
	else if (errno == EMFILE)
		buf_addf(why, "raise the limit of open files (ulimit -n %d)", FILES);
	else if (jit_is_off())
		buf_adds(why, "this kernel does not compile BPF programs: sysctl net.core.bpf_jit_enable=1");
	else if (constants.hooks == CALLS_FUNCTIONS)
		buf_adds(why, "Linux 7.3 on x86-64 does; use --engine=bpf");
	else
		buf_adds(why, "they require Linux 5.15, without lockdown=confidentiality, and "
			      "/sys/kernel/btf/vmlinux");
	bpf_programs_free(p);
	return NULL;
}

void bpf_programs_free(struct bpf_programs *p)
{
	if (p)
		programs_stop(p);
	free(p);
}

/* Use ------------------------------------------------------------------------------------- */

int bpf_programs_buffer(const struct bpf_programs *p)
{
	return p->buffer;
}

void bpf_programs_follow(struct bpf_programs *p, pid_t tid)
{
	uint32_t key = (uint32_t)tid;
	uint8_t one = 1;

	BPF(bpf_map_update_elem)(p->tasks, &key, &one, BPF_ANY);
}

void bpf_programs_holds(struct bpf_programs *p, pid_t pid)
{
	struct calls_holder h = { .rings = CALLS_UNKNOWN };
	uint32_t key = (uint32_t)pid;

	p->state->may_hold[key % CALLS_SLOTS] = 1;
	BPF(bpf_map_update_elem)(p->holders, &key, &h, BPF_ANY);
}

struct bpf_lost bpf_programs_lost(const struct bpf_programs *p)
{
	const struct calls_lost *l = &p->state->lost;
	struct bpf_program *program = NULL;
	uint64_t skipped = 0; /* how often the kernel did not run a program, as a task was in it */

	while ((program = BPF(bpf_object__next_program)(p->object, program))) {
		struct bpf_prog_info info = { 0 };
		uint32_t size = sizeof(info);
		int fd = BPF(bpf_program__fd)(program);

		if (fd >= 0 && !BPF(bpf_obj_get_info_by_fd)(fd, &info, &size))
			skipped += info.recursion_misses;
	}
	return (struct bpf_lost){
		.full = __atomic_load_n(&l->full, __ATOMIC_RELAXED),
		.bytes = __atomic_load_n(&l->bytes, __ATOMIC_RELAXED),
		.refused = __atomic_load_n(&l->refused, __ATOMIC_RELAXED),
		.untracked = __atomic_load_n(&l->untracked, __ATOMIC_RELAXED),
		.skipped = skipped,
	};
}

#else

struct bpf_programs *bpf_programs_new(const struct bpf_engine_setup *setup,
				      const struct nr_tables *nrs, const struct arch *compat,
				      struct buf *why)
{
	(void)setup, (void)nrs, (void)compat;
	buf_adds(why, "pevtrace was built without BPF programs (clang, libbpf-dev)");
	return NULL;
}

void bpf_programs_free(struct bpf_programs *p)
{
	(void)p;
}

int bpf_programs_buffer(const struct bpf_programs *p)
{
	(void)p;
	return -1;
}

void bpf_programs_follow(struct bpf_programs *p, pid_t tid)
{
	(void)p, (void)tid;
}

void bpf_programs_holds(struct bpf_programs *p, pid_t pid)
{
	(void)p, (void)pid;
}

struct bpf_lost bpf_programs_lost(const struct bpf_programs *p)
{
	(void)p;
	return (struct bpf_lost){ 0 };
}

#endif
