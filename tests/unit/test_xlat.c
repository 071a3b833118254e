// SPDX-License-Identifier: LGPL-2.1-or-later
/* The generated tables keep what xlat.h promises, and lookups find them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "core/abi/xlat.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

static uint64_t bits_of(const struct xlat *x, const struct xlat_entry *e)
{
	if (x->kind == XLAT_BITS)
		return 1ULL << e->value;
	return x->kind == XLAT_FLAGS ? e->mask : e->value;
}

static void tables_are_sorted_and_complete(void **state)
{
	size_t t, i;

	(void)state;
	for (t = 0; xlat_tables[t]; t++) {
		const struct xlat *x = xlat_tables[t];

		assert_true(x->n > 0);
		for (i = 0; i < x->n; i++) {
			const struct xlat_entry *e = &x->entries[i];
			size_t len = strlen(e->meaning);

			if (i)
				assert_true(e[-1].value <= e->value);
			assert_true(len > 0);
			assert_int_not_equal(e->meaning[len - 1], '.');
			assert_int_equal(strncmp(e->name, x->prefix,
						 strlen(x->prefix)), 0);
			if (x->kind == XLAT_FLAGS)
				assert_true((e->value & ~e->mask) == 0);
			if (x->kind == XLAT_BITS && !e->traits)
				assert_true(e->value < 64);
		}
	}
	assert_true(t > 30);
}

static void printed_values_are_unique(void **state)
{
	size_t t, i, j;

	(void)state;
	for (t = 0; xlat_tables[t]; t++) {
		const struct xlat *x = xlat_tables[t];

		for (i = 0; i < x->n; i++)
			for (j = i + 1; j < x->n; j++) {
				const struct xlat_entry *a = &x->entries[i];
				const struct xlat_entry *b = &x->entries[j];

				if (!a->traits && !b->traits &&
				    a->value == b->value && a->mask == b->mask)
					fail_msg("%s and %s", a->name, b->name);
			}
	}
}

static void names_are_unique(void **state)
{
	size_t t, u, i, j;

	(void)state;
	for (t = 0; xlat_tables[t]; t++)
		for (i = 0; i < xlat_tables[t]->n; i++)
			for (u = t; xlat_tables[u]; u++)
				for (j = u == t ? i + 1 : 0; j < xlat_tables[u]->n; j++)
					assert_string_not_equal(
						xlat_tables[t]->entries[i].name,
						xlat_tables[u]->entries[j].name);
}

static void every_value_is_found(void **state)
{
	size_t t, i;

	(void)state;
	for (t = 0; xlat_tables[t]; t++) {
		const struct xlat *x = xlat_tables[t];

		for (i = 0; i < x->n; i++) {
			const struct xlat_entry *e = &x->entries[i];
			const struct xlat_entry *f = xlat_find(x, e->value);

			if (e->traits)
				assert_true(!f || !f->traits);
			else
				assert_true(f && f->value == e->value && !f->traits);
			assert_ptr_equal(xlat_by_name(x, e->name), e);
			assert_non_null(xlat_by_name(x, e->name + strlen(x->prefix)));
		}
		assert_null(xlat_find(x, 0x5555555555555555));
		assert_null(xlat_by_name(x, "NO_SUCH_NAME"));
		assert_null(xlat_by_name(x, ""));
	}
}

static void lookups_know_the_interface(void **state)
{
	(void)state;
	assert_string_equal(xlat_name(&xlat_perf_type_id, 0), "PERF_TYPE_HARDWARE");
	assert_null(xlat_name(&xlat_perf_type_id, 6));	/* PERF_TYPE_MAX */
	assert_string_equal(xlat_name(&xlat_perf_callchain_context, -512),
			    "PERF_CONTEXT_USER");
	assert_null(xlat_name(&xlat_perf_callchain_context, -4095));
	assert_string_equal(xlat_name(&xlat_perf_regs_x86, 16),
			    "PERF_REG_X86_R8");	/* and PERF_REG_X86_32_MAX */
	assert_string_equal(xlat_name(&xlat_mmap_prot, 0), "PROT_NONE");
	assert_int_equal(xlat_by_name(&xlat_perf_hw_id, "INSTRUCTIONS")->value,
			 PERF_COUNT_HW_INSTRUCTIONS);
	assert_int_equal(xlat_find(&xlat_perf_event_read_format,
				   PERF_FORMAT_LOST)->since, KVER(6, 0, 0));
}

static void missing_things_are_null(void **state)
{
	uint64_t rest = 1;
	size_t at = 0;

	(void)state;
	assert_null(xlat_find(NULL, 0));
	assert_null(xlat_name(NULL, 0));
	assert_null(xlat_by_name(NULL, "X"));
	assert_null(xlat_by_name(&xlat_perf_type_id, NULL));
	assert_null(xlat_next_flag(NULL, &rest, &at));
	assert_int_equal(rest, 1);
	assert_null(layout_by_name(NULL));
	assert_null(layout_by_name("no_such_layout"));
	assert_null(call_by_name(NULL));
	assert_null(call_by_name("no_such_call"));
	assert_null(ioctl_find(0, 8));
	assert_null(ioctl_find(0xffffffff, 4));
}

/* Writes the names of v with their prefixes, "|" between, rest in hex. */
static const char *flags(const struct xlat *x, uint64_t v)
{
	static char text[4096];
	const struct xlat_entry *e;
	size_t at = 0, len = 0;

	text[0] = '\0';
	while ((e = xlat_next_flag(x, &v, &at)))
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s",
					len ? "|" : "", e->name);
	if (v)
		snprintf(text + len, sizeof(text) - len, "%s0x%llx",
			 len ? "|" : "", (unsigned long long)v);
	return text;
}

static void flags_are_walked(void **state)
{
	(void)state;
	assert_string_equal(flags(&xlat_perf_event_sample_format, 0), "");
	assert_string_equal(flags(&xlat_perf_event_sample_format, 0x3),
			    "PERF_SAMPLE_IP|PERF_SAMPLE_TID");
	/* a name that is not ABI stays a number */
	assert_string_equal(flags(&xlat_perf_event_sample_format, 0x2000001),
			    "PERF_SAMPLE_IP|0x2000000");
	/* a value under a mask */
	assert_string_equal(flags(&xlat_mmap_flags, 0x22),
			    "MAP_PRIVATE|MAP_ANONYMOUS");
	assert_string_equal(flags(&xlat_mmap_flags, 0x3), "MAP_SHARED_VALIDATE");
	assert_string_equal(flags(&xlat_mmap_flags, 0x54040002),
			    "MAP_PRIVATE|MAP_HUGETLB|MAP_HUGE_2MB");
	assert_string_equal(flags(&xlat_perf_aux_flag, 0x101),
			    "PERF_AUX_FLAG_TRUNCATED|PERF_AUX_FLAG_CORESIGHT_FORMAT_RAW");
	/* a name that holds another one */
	assert_string_equal(flags(&xlat_open_status_flags, 0x101002),
			    "O_RDWR|O_SYNC");
	assert_string_equal(flags(&xlat_open_status_flags, 0x1000), "O_DSYNC");
	assert_string_equal(flags(&xlat_open_status_flags, 0x10000), "O_DIRECTORY");
	/* bit numbers */
	assert_string_equal(flags(&xlat_perf_regs_x86, 1ULL << 8 | 1ULL << 63),
			    "PERF_REG_X86_IP|PERF_REG_X86_XMM15_HI");
	assert_string_equal(flags(&xlat_perf_regs_arm64, 1ULL << 33),
			    "0x200000000");
}

static void walk_leaves_unknown_bits(void **state)
{
	size_t t, i;

	(void)state;
	for (t = 0; xlat_tables[t]; t++) {
		const struct xlat *x = xlat_tables[t];
		uint64_t known = 0, taken = 0, rest = ~0ULL;
		const struct xlat_entry *e;
		size_t at = 0;
		bool masks = false;

		if (x->kind == XLAT_ENUM)
			continue;
		for (i = 0; i < x->n; i++) {
			e = &x->entries[i];
			if (e->traits)
				continue;
			if (x->kind == XLAT_FLAGS && e->mask != e->value)
				masks = true;
			else
				known |= bits_of(x, e);
		}
		while ((e = xlat_next_flag(x, &rest, &at))) {
			assert_false(e->traits);
			assert_true((taken & bits_of(x, e)) == 0);
			taken |= bits_of(x, e);
		}
		assert_true((rest & taken) == 0);
		assert_true((rest | taken) == ~0ULL);
		assert_true((rest & known) == 0);
		if (!masks)
			assert_true(taken == known);

		/* each name alone comes back alone */
		for (i = 0; i < x->n; i++) {
			const struct xlat_entry *want = &x->entries[i];

			if (want->traits)
				continue;
			rest = x->kind == XLAT_BITS ? bits_of(x, want) : want->value;
			if (!rest)
				continue;
			at = 0;
			assert_ptr_equal(xlat_next_flag(x, &rest, &at), want);
			assert_true(rest == 0);
			assert_null(xlat_next_flag(x, &rest, &at));
		}
	}
}

static bool cond_is_sound(const struct layout *l, const struct cond *c)
{
	if (c->op == COND_NONE)
		return true;
	return c->field < l->n && (c->op == COND_PMU) == (c->pmu != NULL);
}

static void layouts_are_sound(void **state)
{
	size_t n, i;

	(void)state;
	for (n = 0; layouts[n]; n++) {
		const struct layout *l = layouts[n];
		unsigned int last = 0;

		assert_ptr_equal(layout_by_name(l->name), l);
		for (i = 0; i < l->n; i++) {
			const struct field *f = &l->fields[i];
			unsigned int start = 8u * f->offset + f->bit;
			unsigned int end = f->offset + f->width;

			assert_true(start >= last);
			last = start;
			/* members are parts of one integer, or of none (swap_layout()) */
			if (i && f->offset == f[-1].offset)
				assert_int_equal(f->width, f[-1].width);
			else if (i)
				assert_true(f->offset >= f[-1].offset + f[-1].width);
			assert_true(f->bit + f->nbits <= 8 * f->width);
			assert_true(end <= l->size);
			assert_true(!f->size || end <= f->size);
			assert_true(cond_is_sound(l, &f->when));
			assert_true(cond_is_sound(l, &f->needs));
			if (f->kind == FIELD_ENUM || f->kind == FIELD_FLAGS ||
			    f->kind == FIELD_WORDS)
				assert_non_null(f->xlat);
			if (f->kind == FIELD_BOOL)
				assert_int_equal(f->nbits, 1);
		}
	}
}

/* Each bit of the attr belongs to a member, or the table has a hole. */
static void attr_has_no_holes(void **state)
{
	static uint8_t covered[144 * 8];
	const struct layout *l = &layout_perf_event_attr;
	size_t i, b;

	(void)state;
	assert_int_equal(l->size, PERF_ATTR_SIZE_VER9);
	for (i = 0; i < l->n; i++) {
		const struct field *f = &l->fields[i];
		size_t start = 8u * f->offset + f->bit;
		size_t bits = f->nbits ? f->nbits : 8u * f->width;

		for (b = 0; b < bits; b++)
			covered[start + b] = 1;
	}
	for (b = 0; b < sizeof(covered); b++)
		if (!covered[b])
			fail_msg("bit %zu of byte %zu", b % 8, b / 8);
}

static void attr_indexes_fit(void **state)
{
	const struct field *f = layout_perf_event_attr.fields;

	(void)state;
	assert_string_equal(f[ATTR_TYPE].name, "type");
	assert_string_equal(f[ATTR_SAMPLE_FREQ].name, "sample_freq");
	assert_int_equal(f[ATTR_SAMPLE_FREQ].when.field, ATTR_FREQ);
	assert_int_equal(f[ATTR_PRECISE_IP].bit, 15);
	assert_int_equal(f[ATTR_PRECISE_IP].nbits, 2);
	assert_string_equal(f[ATTR_UPROBE_PATH].when.pmu, "uprobe");
	assert_true(f[ATTR_BRANCH_SAMPLE_TYPE].needs.op == COND_MASK);
	assert_int_equal(f[ATTR_BRANCH_SAMPLE_TYPE].needs.field, ATTR_SAMPLE_TYPE);
	assert_int_equal(f[ATTR_BRANCH_SAMPLE_TYPE].needs.value,
			 PERF_SAMPLE_BRANCH_STACK);
	assert_int_equal(ATTR_NFIELDS, layout_perf_event_attr.n);
	assert_string_equal(f[ATTR_CONFIG4].name, "config4");
}

static void ioctls_are_found(void **state)
{
	size_t i;

	(void)state;
	assert_int_equal(ioctl_ndescs, 12);
	for (i = 0; i < ioctl_ndescs; i++) {
		const struct ioctl_desc *d = &ioctl_descs[i];

		assert_ptr_equal(ioctl_find(d->request, 8), d);
		assert_ptr_equal(ioctl_find(d->compat, 4), d);
		if (d->request != d->compat) {
			assert_null(ioctl_find(d->request, 4));
			assert_null(ioctl_find(d->compat, 8));
		}
		/* as TCGETS and others have other types */
		assert_null(ioctl_find(d->request ^ 0x7000, 8));
	}
	assert_string_equal(ioctl_find(0x40042406, 4)->name,
			    "PERF_EVENT_IOC_SET_FILTER");
	assert_null(ioctl_find(0x2404, 8));
}

static void calls_are_sound(void **state)
{
	size_t c, a;

	(void)state;
	for (c = 0; c < CALL_COUNT; c++) {
		const struct call_desc *d = &call_descs[c];

		assert_int_equal(d->id, c);
		assert_ptr_equal(call_by_name(d->name), d);
		assert_true(d->nargs <= CALL_MAX_ARGS);
		assert_true(d->in_args <= d->nargs);
		for (a = 0; a < d->nargs; a++) {
			assert_non_null(d->args[a].name);
			if (d->args[a].kind == ARG_ENUM ||
			    d->args[a].kind == ARG_FLAGS)
				assert_non_null(d->args[a].xlat);
		}
		for (; a < CALL_MAX_ARGS; a++)
			assert_null(d->args[a].name);
	}
	assert_int_equal(call_descs[CALL_PERF_EVENT_OPEN].watch, WATCH_ALWAYS);
	assert_int_equal(call_descs[CALL_PERF_EVENT_OPEN].nargs, 5);
	assert_int_equal(call_descs[CALL_READ].in_args, 1);
	assert_ptr_equal(call_by_name("_newselect"), &call_descs[CALL_NEWSELECT]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_are_sorted_and_complete),
		cmocka_unit_test(printed_values_are_unique),
		cmocka_unit_test(names_are_unique),
		cmocka_unit_test(every_value_is_found),
		cmocka_unit_test(lookups_know_the_interface),
		cmocka_unit_test(missing_things_are_null),
		cmocka_unit_test(flags_are_walked),
		cmocka_unit_test(walk_leaves_unknown_bits),
		cmocka_unit_test(layouts_are_sound),
		cmocka_unit_test(attr_has_no_holes),
		cmocka_unit_test(attr_indexes_fit),
		cmocka_unit_test(ioctls_are_found),
		cmocka_unit_test(calls_are_sound),
	};

	return cmocka_run_group_tests_name("xlat", tests, NULL, NULL);
}
