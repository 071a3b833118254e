// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/host/proc_image_bpf.h"

#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef HAVE_LIBBPF
#include <bpf/btf.h>
#else
struct btf;
#endif

#include "core/lib/buf.h"
#include "core/lib/die.h"
#include "core/lib/late.h"

enum { FUNCTIONS_MAX = 4096 };

/* The functions of a program. */
struct bpf_code {
	bool typed;	/* libbpf can read the types of functions */
	struct bpf_prog_info info;
	uint64_t starts[FUNCTIONS_MAX];
	uint32_t sizes[FUNCTIONS_MAX];
	uint8_t tags[FUNCTIONS_MAX][BPF_TAG_SIZE];
	struct bpf_func_info types[FUNCTIONS_MAX];
};

/* Return the id of the program after that one, or 0: none is left, or only root may know. */
static uint32_t bpf_next_program(uint32_t id)
{
	union bpf_attr a = { .start_id = id };

	return syscall(SYS_bpf, BPF_PROG_GET_NEXT_ID, &a, sizeof(a)) ? 0 : a.next_id;
}

static bool bpf_read_code(uint32_t id, struct bpf_code *c)
{
	union bpf_attr get = { .prog_id = id }, query = { .info.info_len = sizeof(c->info) };
	int fd = (int)syscall(SYS_bpf, BPF_PROG_GET_FD_BY_ID, &get, sizeof(get));
	struct bpf_prog_info *i = &c->info;
	bool ok;

	if (fd < 0)
		return false;
	*i = (struct bpf_prog_info){
		.nr_jited_ksyms = FUNCTIONS_MAX, .jited_ksyms = (uintptr_t)c->starts,
		.nr_jited_func_lens = FUNCTIONS_MAX, .jited_func_lens = (uintptr_t)c->sizes,
		.nr_prog_tags = FUNCTIONS_MAX, .prog_tags = (uintptr_t)c->tags,
		.nr_func_info = FUNCTIONS_MAX, .func_info = (uintptr_t)c->types,
		.func_info_rec_size = sizeof(*c->types),
	};
	query.info.bpf_fd = (uint32_t)fd;
	query.info.info = (uintptr_t)i;
	ok = !syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &query, sizeof(query));
	close(fd);
	return ok && i->nr_jited_ksyms <= FUNCTIONS_MAX &&
	       i->nr_jited_ksyms == i->nr_jited_func_lens && i->nr_jited_ksyms == i->nr_prog_tags;
}

#ifdef HAVE_LIBBPF

/* Append the name of the function whose type that is; return false if it is unknown. */
static bool bpf_add_name(const struct btf *types, uint32_t type, struct buf *name)
{
	const struct btf_type *t = types ? BPF(btf__type_by_id)(types, type) : NULL;
	const char *text = t ? BPF(btf__name_by_offset)(types, t->name_off) : NULL;

	buf_adds(name, text ? text : "");
	return text;
}

static struct btf *bpf_types_of(const struct bpf_code *c)
{
	return c->typed && c->info.nr_func_info == c->info.nr_jited_ksyms ?
	       BPF(btf__load_from_kernel_by_id)(c->info.btf_id) : NULL;
}

static void bpf_free_types(struct btf *types)
{
	if (types)
		BPF(btf__free)(types);
}

static bool bpf_can_read_types(void)
{
	return LATE_LOAD(LIBBPF);
}
#else
static bool bpf_add_name(const struct btf *types, uint32_t type, struct buf *name)
{
	(void)types, (void)type, (void)name;
	return false;
}

static struct btf *bpf_types_of(const struct bpf_code *c)
{
	(void)c;
	return NULL;
}

static void bpf_free_types(struct btf *types)
{
	(void)types;
}

static bool bpf_can_read_types(void)
{
	return false;
}
#endif

/* Name a function as the kernel and perf do: by its tag, and by its type or the program. */
static void bpf_name_function(const struct bpf_code *c, uint32_t i, const struct btf *types,
			      struct buf *name)
{
	bool only = c->info.nr_jited_ksyms == 1 && *c->info.name;

	buf_reset(name);
	buf_adds(name, "bpf_prog_");
	for (size_t k = 0; k < BPF_TAG_SIZE; k++)
		buf_addf(name, "%02x", c->tags[i][k]);
	buf_addc(name, '_');
	if (!bpf_add_name(types, c->types[i].type_id, name))
		buf_adds(name, only ? c->info.name : "F");
}

static void proc_image_add_program(struct proc_image *p, const struct bpf_code *c)
{
	struct btf *types = bpf_types_of(c);
	struct buf name = { 0 };

	for (uint32_t i = 0; i < c->info.nr_jited_ksyms; i++) {
		struct proc_image_function *f;

		if (!c->starts[i]) /* concealed (kptr_restrict) */
			continue;
		bpf_name_function(c, i, types, &name);
		f = proc_image_add_function(p, buf_str(&name));
		f->start = c->starts[i];
		f->size = c->sizes[i];
		f->program = c->info.id;
		memcpy(f->tag, c->info.tag, sizeof(f->tag));
	}
	buf_free(&name);
	bpf_free_types(types);
}

/* Return whether p has the functions of the programs that are loaded, and of no others. */
static bool proc_image_has_programs(const struct proc_image *p)
{
	uint32_t id = 0;

	for (size_t i = 0; i < p->nfunctions; i++) {
		if (p->functions[i].program == id || !p->functions[i].program)
			continue;
		id = bpf_next_program(id);
		if (p->functions[i].program != id)
			return false;
	}
	return !bpf_next_program(id);
}

/* Remove the functions of programs, and keep the others. */
static void proc_image_drop_programs(struct proc_image *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->nfunctions; i++) {
		if (p->functions[i].program)
			free(p->functions[i].name);
		else
			p->functions[n++] = p->functions[i];
	}
	p->nfunctions = n;
}

void proc_image_update_functions(struct proc_image *p)
{
	struct bpf_code *c;

	if (proc_image_has_programs(p))
		return;
	proc_image_drop_programs(p);
	if (!bpf_next_program(0))
		return;
	c = xcalloc(1, sizeof(*c)); /* valgrind does not see what bpf(2) writes */
	c->typed = bpf_can_read_types();
	for (uint32_t id = 0; (id = bpf_next_program(id));)
		if (bpf_read_code(id, c))
			proc_image_add_program(p, c);
	free(c);
}

void proc_image_add_trampolines(struct proc_image *p)
{
	FILE *f = bpf_next_program(0) ? fopen("/proc/kallsyms", "re") : NULL;
	struct proc_image_function *found;
	unsigned long long start;
	char line[256], name[128];

	while (f && fgets(line, sizeof(line), f)) {
		if (!strstr(line, "\t[bpf]") || sscanf(line, "%llx %*c %127s", &start, name) != 2 ||
		    (strncmp(name, "bpf_trampoline_", 15) && strncmp(name, "bpf_dispatcher_", 15)))
			continue;
		found = proc_image_add_function(p, name);
		found->start = start;
		found->size = (uint32_t)sysconf(_SC_PAGESIZE); /* perf takes it to be that */
	}
	if (f)
		fclose(f);
}
