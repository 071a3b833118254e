// SPDX-License-Identifier: LGPL-2.1-or-later
/* Types of a kernel or an object file. */
#include "conform/api_desc.h"

#include "core/lib/die.h"

#ifdef HAVE_LIBBPF

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <string.h>

#include "core/abi/strings.h"
#include "core/lib/late.h"

enum { DEPTH_MAX = 16, MEMBERS_MAX = 4096 };

struct btf_reader {
	const struct btf *btf;
	const struct api_desc *known;	/* NULL: read everything */
	struct api_desc *out;
	unsigned int left;		/* bound on further members of the structure */
};

static const char *btf_name(const struct btf_reader *r, __u32 off)
{
	const char *s = BPF(btf__name_by_offset)(r->btf, off);

	return s ? s : "";
}

/* Enums ----------------------------------------------------------------------------------- */

static const char *enumerator(const struct btf_reader *r, const struct btf_type *t, unsigned int i,
			      uint64_t *value)
{
	if (btf_is_enum64(t)) {
		*value = btf_enum64_value(&btf_enum64(t)[i]);
		return btf_name(r, btf_enum64(t)[i].name_off);
	}
	*value = btf_kflag(t) ? (uint64_t)(int64_t)btf_enum(t)[i].val :
				(uint32_t)btf_enum(t)[i].val;
	return btf_name(r, btf_enum(t)[i].name_off);
}

/* Add the names of an enum, if it has one of those that are known. */
static void add_enum(struct btf_reader *r, __u32 id, const struct btf_type *t)
{
	bool wanted = !r->known;
	uint64_t value;

	for (unsigned int i = 0; i < btf_vlen(t) && !wanted; i++)
		wanted = api_name(r->known, enumerator(r, t, i, &value));
	for (unsigned int i = 0; i < btf_vlen(t) && wanted; i++) {
		struct api_name *n;
		const char *name = enumerator(r, t, i, &value);

		if (api_name(r->out, name))
			continue;
		n = api_desc_add_name(r->out, name, btf_name(r, t->name_off));
		/* older compilers truncate enumerators of 8-byte enums */
		n->valued = btf_is_enum64(t) || t->size <= 4;
		n->value = value;
		n->line = id;
	}
}

/* Structures ------------------------------------------------------------------------------ */

/*
 * Add members; those of unnamed structures belong to the outer one.  Unnamed structures
 * count against the bound, too: in malformed BTF, their nesting may explode.
 */
static void add_struct_members(struct btf_reader *r, const struct btf_type *t, __u32 base, __u32 id,
			       struct api_struct *st, unsigned int depth)
{
	for (unsigned int i = 0; i < btf_vlen(t) && r->left; i++) {
		const struct btf_member *bm = &btf_members(t)[i];
		__s32 to = BPF(btf__resolve_type)(r->btf, bm->type);
		const struct btf_type *of = to < 0 ? NULL : BPF(btf__type_by_id)(r->btf, (__u32)to);
		const char *name = btf_name(r, bm->name_off);
		__u32 start = base + btf_member_bit_offset(t, i);
		__u32 field = btf_member_bitfield_size(t, i);
		struct api_member *m;
		__s64 bytes;

		r->left--;
		if (!of)
			continue;
		if (!*name) {
			if (btf_is_composite(of) && depth < DEPTH_MAX)
				add_struct_members(r, of, start, id, st, depth + 1);
			continue;
		}
		bytes = BPF(btf__resolve_size)(r->btf, bm->type);
		m = api_desc_add_member(st, name);
		m->start = start;
		m->bits = field ? field : bytes > 0 && bytes < 1 << 28 ? 8 * (__u32)bytes : 0;
		m->sign = !btf_is_int(of) ? SIGN_UNKNOWN :
			  btf_int_encoding(of) & BTF_INT_SIGNED ? SIGN_SIGNED : SIGN_UNSIGNED;
		m->placed = true;
		m->bitfield = field;
		m->array = btf_is_array(of) ? xstrdup("") : NULL;
		m->line = id;
	}
}

static int print_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level, (void)format, (void)args;
	return 0;
}

bool btf_read(const char *path, const struct api_desc *known, struct api_desc *out)
{
	struct btf_reader r = { .known = known, .out = out };
	struct btf *btf;
	long error;

	BPF(libbpf_set_print)(print_nothing);
	btf = BPF(btf__parse)(path, NULL);
	error = BPF(libbpf_get_error)(btf);
	if (error) {
		/* libbpf has errors of its own above those of the kernel */
		warn("cannot read BTF from '%s': %s; %s", path,
		     -error > ERRNO_MAX || !error_name((int)-error) ? "it has no BTF" :
		     strerror((int)-error),
		     !strcmp(path, BTF_KERNEL) ? "it requires a kernel with CONFIG_DEBUG_INFO_BTF" :
		     "name raw BTF or an ELF file with a section .BTF, or use --no-btf");
		return false;
	}
	r.btf = btf;
	for (__u32 id = 1; id < BPF(btf__type_cnt)(btf); id++) {
		const struct btf_type *t = BPF(btf__type_by_id)(btf, id);
		const char *name = btf_name(&r, t->name_off);

		if (btf_is_any_enum(t)) {
			add_enum(&r, id, t);
		} else if (btf_is_composite(t) && *name && btf_vlen(t) && !api_struct(out, name) &&
			   (!known || api_struct(known, name))) {
			struct api_struct *st = api_desc_add_struct(out, name);

			st->bytes = t->size;
			st->line = id;
			r.left = MEMBERS_MAX;
			add_struct_members(&r, t, 0, id, st, 0);
		}
	}
	BPF(btf__free)(btf);
	return true;
}

#else

bool btf_read(const char *path, const struct api_desc *known, struct api_desc *out)
{
	(void)known, (void)out;
	warn("cannot read BTF from '%s': pevtrace was built without libbpf (libbpf-dev)", path);
	return false;
}

#endif
