// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The tables against what the running kernel says of itself.  What it lacks
 * must be newer than it is; what we lack is an error unless the kernel is newer
 * than everything in the tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <cmocka.h>

#include "core/abi/xlat.h"
#include "core/lib/kernel_types.h"
#include "xlat/tables.h"

#ifdef HAVE_LIBBPF

#include <sys/mman.h>
#include <unistd.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

static struct btf *btf;
static uint32_t running, newest;
static unsigned int wrong;

#define WRONG(...) (print_error(__VA_ARGS__), wrong++)

static int quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level, (void)format, (void)args;
	return 0;
}

static int setup(void **state)
{
	struct utsname u;
	unsigned int a = 0, b = 0, c = 0;
	size_t i, j;

	(void)state;
	libbpf_set_print(quiet);
	btf = btf__load_vmlinux_btf();
	if (libbpf_get_error(btf))
		btf = NULL;
	if (uname(&u) == 0)
		sscanf(u.release, "%u.%u.%u", &a, &b, &c);
	running = KVER(a, b, c < 255 ? c : 255);
	for (i = 0; xlat_tables[i]; i++)
		for (j = 0; j < xlat_tables[i]->n; j++)
			if (xlat_tables[i]->entries[j].since > newest)
				newest = xlat_tables[i]->entries[j].since;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	btf__free(btf);
	return 0;
}

static void need_btf(void)
{
	wrong = 0;
	if (btf)
		return;
	print_message("# the kernel has no readable /sys/kernel/btf/vmlinux\n");
	skip();
}

/* The kernel has something that we do not know. */
static void unknown(const char *in, const char *name, uint64_t value)
{
	if (running >= newest + KVER(0, 1, 0))
		print_message("newer kernel: %s has %s (0x%llx)\n", in, name,
			      (unsigned long long)value);
	else
		WRONG("%s has %s (0x%llx), the tables have not\n", in, name,
		      (unsigned long long)value);
}

static const struct btf_type *type(__u32 id)
{
	return btf__type_by_id(btf, id);
}

static const char *str(__u32 off)
{
	return btf__name_by_offset(btf, off);
}

static const struct btf_type *find(const char *name, bool want_enum)
{
	__u32 id;

	for (id = 1; id < btf__type_cnt(btf); id++) {
		const struct btf_type *t = type(id);

		if ((want_enum ? btf_is_any_enum(t) : btf_is_composite(t)) &&
		    btf_vlen(t) && !strcmp(str(t->name_off), name))
			return t;
	}
	return NULL;
}

static uint64_t enumerator(const struct btf_type *t, unsigned int i,
			   const char **name)
{
	if (btf_is_enum64(t)) {
		*name = str(btf_enum64(t)[i].name_off);
		return btf_enum64_value(&btf_enum64(t)[i]);
	}
	*name = str(btf_enum(t)[i].name_off);
	return btf_kflag(t) ? (uint64_t)(int64_t)btf_enum(t)[i].val :
			      (uint32_t)btf_enum(t)[i].val;
}

/* Only full names, and only of perf's own headers. */
static const struct xlat_entry *perf_entry(const char *name)
{
	static const char *const headers[] = {
		"linux/perf_event.h", "linux/hw_breakpoint.h", "asm/perf_regs.h",
	};
	size_t t, h;

	for (t = 0; xlat_tables[t]; t++) {
		const struct xlat_entry *e;

		for (h = 0; h < 3; h++)
			if (xlat_tables[t]->header &&
			    !strcmp(xlat_tables[t]->header, headers[h]))
				break;
		if (h == 3)
			continue;
		e = xlat_by_name(xlat_tables[t], name);
		if (e && !strcmp(e->name, name))
			return e;
	}
	return NULL;
}

static bool is_max(const char *name)
{
	const char *max = strstr(name, "_MAX");

	return (max && (!max[4] || !strcmp(max, "_MAX_SHIFT"))) ||
	       !strcmp(name, "NR_NAMESPACES");
}

/* Every enumerator that shares an enum with one of ours. */
static void kernel_enumerators_are_known(void **state)
{
	unsigned int compared = 0, i;
	__u32 id;

	(void)state;
	need_btf();
	for (id = 1; id < btf__type_cnt(btf); id++) {
		const struct btf_type *t = type(id);
		const char *name;
		bool ours = false;

		if (!btf_is_any_enum(t))
			continue;
		for (i = 0; i < btf_vlen(t) && !ours; i++) {
			enumerator(t, i, &name);
			ours = perf_entry(name);
		}
		for (i = 0; ours && i < btf_vlen(t); i++) {
			uint64_t value = enumerator(t, i, &name);
			const struct xlat_entry *e = perf_entry(name);

			if (!e)
				unknown("an enum of the kernel", name, value);
			else if (e->value != value && !(e->traits && is_max(name)))
				WRONG("%s is 0x%llx in the kernel, 0x%llx in the tables\n",
				      name, (unsigned long long)value,
				      (unsigned long long)e->value);
			compared++;
		}
	}
	print_message("compared %u enumerators\n", compared);
	assert_true(compared > 50);
	assert_int_equal(wrong, 0);
}

static void our_enumerators_are_in_the_kernel(void **state)
{
	size_t t, i;

	(void)state;
	need_btf();
	for (t = 0; xlat_tables[t]; t++) {
		const struct xlat *x = xlat_tables[t];
		const struct btf_type *e = x->btf ? find(x->btf, true) : NULL;

		if (!x->btf)
			continue;
		if (!e) {
			/* types that nothing uses are left out of BTF */
			print_message("no enum %s in BTF\n", x->btf);
			continue;
		}
		for (i = 0; i < x->n; i++) {
			const struct xlat_entry *want = &x->entries[i];
			const char *name;
			unsigned int j;

			for (j = 0; j < btf_vlen(e); j++) {
				enumerator(e, j, &name);
				if (!strcmp(name, want->name))
					break;
			}
			/* without a header's name there is nothing to find */
			if (j < btf_vlen(e) || want->traits ||
			    strstr(want->name, "_HI") || want->since > running)
				continue;
			WRONG("enum %s of the kernel lacks %s\n", x->btf, want->name);
		}
	}
	assert_int_equal(wrong, 0);
}

struct member {
	const char *name;
	__u32 start, bits;	/* in bits, from the start of the struct */
	bool array;
};

/* Members of anonymous structs and unions count as the struct's own. */
static size_t members(const struct btf_type *t, __u32 base, struct member *m,
		      size_t n, size_t max)
{
	unsigned int i;

	for (i = 0; i < btf_vlen(t) && n < max; i++) {
		const struct btf_member *bm = &btf_members(t)[i];
		__s32 id = btf__resolve_type(btf, bm->type);
		__u32 start = base + btf_member_bit_offset(t, i);
		__u32 bits = btf_member_bitfield_size(t, i);

		if (id < 0)
			continue;
		if (!*str(bm->name_off)) {
			if (btf_is_composite(type((__u32)id)))
				n = members(type((__u32)id), start, m, n, max);
			continue;
		}
		if (!bits)
			bits = 8 * (__u32)btf__resolve_size(btf, bm->type);
		m[n++] = (struct member) {
			.name = str(bm->name_off), .start = start, .bits = bits,
			.array = btf_is_array(type((__u32)id)),
		};
	}
	return n;
}

/* Whether the kernel's member is a word that our layout takes apart. */
static bool taken_apart(const struct layout *l, __u32 base, const struct member *m)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		const struct field *f = &l->fields[i];
		__u32 start = base + 8 * f->offset + f->bit;
		__u32 bits = f->nbits ? f->nbits : 8u * f->width;

		if (start >= m->start && start + bits <= m->start + m->bits &&
		    bits < m->bits)
			return true;
	}
	return false;
}

static void compare(const struct layout *l, const char *name, __u32 base)
{
	const struct btf_type *t = find(name, false);
	struct member m[256];
	size_t n, i, j;

	if (!t) {
		print_message("no struct %s in BTF\n", name);
		return;
	}
	n = members(t, 0, m, 0, 256);
	for (i = 0; i < l->n; i++) {
		const struct field *f = &l->fields[i];
		__u32 start = base + 8 * f->offset + f->bit;
		__u32 bits = f->nbits ? f->nbits : 8u * f->width;

		/* reserved bits shrink from release to release */
		if (f->kind == FIELD_RESERVED)
			continue;
		for (j = 0; j < n && strcmp(m[j].name, f->name); j++)
			;
		if (j == n) {
			if (f->since <= running)
				WRONG("%s of the kernel lacks %s\n", name, f->name);
		} else if (m[j].start != start || m[j].bits != bits) {
			WRONG("%s.%s: %u bits from %u in the kernel, %u from %u in the tables\n",
			      name, f->name, m[j].bits, m[j].start, bits, start);
		}
	}
	for (j = 0; j < n; j++) {
		if (m[j].array || m[j].start < base ||
		    !strncmp(m[j].name, "__reserved", 10))
			continue;
		for (i = 0; i < l->n && strcmp(m[j].name, l->fields[i].name); i++)
			;
		if (i == l->n && !taken_apart(l, base, &m[j]))
			unknown(name, m[j].name, m[j].start);
	}
}

static void layouts_agree(void **state)
{
	size_t i;

	(void)state;
	need_btf();
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	for (i = 0; layouts[i]; i++)
		if (layouts[i]->btf)
			compare(layouts[i], layouts[i]->btf, 0);
	/* its flags come behind two addresses */
	compare(&layout_perf_branch_entry_flags, "perf_branch_entry", 128);
#else
	(void)i;
	skip();
#endif
	assert_int_equal(wrong, 0);
}

static void attr_size_is_known(void **state)
{
	const struct btf_type *t;

	(void)state;
	need_btf();
	t = find("perf_event_attr", false);
	if (!t)
		skip();
	if (!xlat_find(&xlat_perf_attr_size, t->size))
		unknown("perf_event_attr", "another size", t->size);
	assert_int_equal(wrong, 0);
}

static const struct btf_type *named(const struct btf *from, const char *name)
{
	int id = btf__find_by_name_kind(from, name, BTF_KIND_STRUCT);

	assert_true(id > 0);
	return btf__type_by_id(from, (uint32_t)id);
}

static void same_members(const struct btf *got, const char *name)
{
	const struct btf_type *a = named(btf, name), *b = named(got, name);

	assert_int_equal(a->size, b->size);
	assert_int_equal(a->info, b->info);
	for (unsigned int i = 0; i < btf_vlen(a); i++) {
		const struct btf_member *m = &btf_members(a)[i], *n = &btf_members(b)[i];

		assert_string_equal(btf__name_by_offset(btf, m->name_off),
				    btf__name_by_offset(got, n->name_off));
		assert_int_equal(m->offset, n->offset);
		assert_int_equal(btf__resolve_size(btf, m->type), btf__resolve_size(got, n->type));
	}
}

static void subset_agrees(void **state)
{
	const char *names[] = { "task_struct", "perf_event", "file", "upid" };
	int fd = memfd_create("types", 0);
	struct kernel_types *t;
	struct btf *got;
	char path[32];

	(void)state;
	need_btf();
	t = kernel_types_read();
	assert_non_null(t);
	assert_true(kernel_types_subset(t, names, 4, fd));
	kernel_types_free(t);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	got = btf__parse(path, NULL);
	assert_false(libbpf_get_error(got));
	close(fd);
	for (int i = 0; i < 4; i++)
		same_members(got, names[i]);
	assert_true(btf__type_cnt(got) < btf__type_cnt(btf) / 10);
	btf__free(got);
}

static void check_function(void *ctx, const char *name, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	assert_non_null(t);
	assert_true(btf_is_func(t));
	assert_string_equal(btf__name_by_offset(btf, t->name_off), name);
	++*(unsigned int *)ctx;
}

static void functions_agree(void **state)
{
	struct kernel_types *t;
	unsigned int n = 0;
	uint32_t size = 0;

	(void)state;
	need_btf();
	t = kernel_types_read();
	assert_non_null(t);
	kernel_types_functions(t, "pt_regs", check_function, &n);
	assert_int_equal(kernel_types_function(t, "vfs_read", &size),
			 btf__find_by_name_kind(btf, "vfs_read", BTF_KIND_FUNC));
	assert_int_equal(size, sizeof(ssize_t));
	kernel_types_free(t);
	assert_true(n > 300); /* each system call has one */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(subset_agrees),
		cmocka_unit_test(functions_agree),
		cmocka_unit_test(kernel_enumerators_are_known),
		cmocka_unit_test(our_enumerators_are_in_the_kernel),
		cmocka_unit_test(layouts_agree),
		cmocka_unit_test(attr_size_is_known),
	};

	return cmocka_run_group_tests_name("btf", tests, setup, teardown);
}

#else

static void no_libbpf(void **state)
{
	(void)state;
	print_message("# built without libbpf\n");
	skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_libbpf),
	};

	return cmocka_run_group_tests_name("btf", tests, NULL, NULL);
}

#endif
