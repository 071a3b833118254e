// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/lib/kernel_types.h"

#include <fcntl.h>
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/lib/buf.h"
#include "core/lib/die.h"

/* Kinds that headers of Linux 5.13 lack. */
enum { KIND_DECL_TAG = 17, KIND_TYPE_TAG = 18, KIND_ENUM64 = 19 };

enum { DEPTH_MAX = 32 };

#define UNKNOWN_KIND ((size_t)UINT32_MAX)

struct kernel_types {
	uint8_t *data;
	size_t len;
	bool mapped;
	const uint8_t *types;
	const char *strings;
	uint32_t types_len, strings_len;
	uint32_t *at;		/* of each id from 1 on, its offset in types[] */
	uint32_t n;		/* ids so far */
	size_t end;		/* offset behind the last of these, or UNKNOWN_KIND */
};

/* Reading --------------------------------------------------------------------------------- */

/* Bytes behind the head of a type: so many, and so many for each of its elements. */
static const struct {
	bool known;
	uint8_t once, each;
} type_extra[] = {
	[BTF_KIND_INT] = { true, 4, 0 }, [BTF_KIND_VAR] = { true, 4, 0 },
	[KIND_DECL_TAG] = { true, 4, 0 }, [BTF_KIND_ARRAY] = { true, sizeof(struct btf_array), 0 },
	[BTF_KIND_STRUCT] = { true, 0, 12 }, [BTF_KIND_UNION] = { true, 0, 12 },
	[BTF_KIND_DATASEC] = { true, 0, 12 }, [KIND_ENUM64] = { true, 0, 12 },
	[BTF_KIND_ENUM] = { true, 0, 8 }, [BTF_KIND_FUNC_PROTO] = { true, 0, 8 },
	[BTF_KIND_PTR] = { true, 0, 0 }, [BTF_KIND_FWD] = { true, 0, 0 },
	[BTF_KIND_TYPEDEF] = { true, 0, 0 }, [BTF_KIND_VOLATILE] = { true, 0, 0 },
	[BTF_KIND_CONST] = { true, 0, 0 }, [BTF_KIND_RESTRICT] = { true, 0, 0 },
	[BTF_KIND_FUNC] = { true, 0, 0 }, [BTF_KIND_FLOAT] = { true, 0, 0 },
	[KIND_TYPE_TAG] = { true, 0, 0 },
};

/* Return a number above all ids. */
static size_t most_ids(const struct kernel_types *t)
{
	return t->types_len / sizeof(struct btf_type) + 2;
}

/* Return the type with that id, or NULL: there is none, or one before it is of an unknown kind. */
static const struct btf_type *btf_find(struct kernel_types *t, uint32_t id)
{
	while (id > t->n) {
		const struct btf_type *type = (const struct btf_type *)(t->types + t->end);
		uint32_t kind;

		if (t->end + sizeof(*type) > t->types_len)
			return NULL;
		kind = BTF_INFO_KIND(type->info);
		if (kind >= sizeof(type_extra) / sizeof(*type_extra) || !type_extra[kind].known) {
			t->end = UNKNOWN_KIND;
			return NULL;
		}
		t->at[++t->n] = (uint32_t)t->end;
		t->end += sizeof(*type) + type_extra[kind].once +
			  (size_t)type_extra[kind].each * BTF_INFO_VLEN(type->info);
	}
	return id ? (const struct btf_type *)(t->types + t->at[id]) : NULL;
}

/* Return the type with that id; its kind is BTF_KIND_UNKN if it does not exist. */
static const struct btf_type *btf_at(struct kernel_types *t, uint32_t id)
{
	static const struct btf_type none;
	const struct btf_type *type = btf_find(t, id);

	return type ? type : &none;
}

static bool parse_header(struct kernel_types *t)
{
	struct btf_header h;

	if (t->len < sizeof(h))
		return false;
	memcpy(&h, t->data, sizeof(h));
	if (h.magic != BTF_MAGIC || h.hdr_len > t->len || h.type_off > t->len - h.hdr_len ||
	    h.type_len > t->len - h.hdr_len - h.type_off || h.str_off > t->len - h.hdr_len ||
	    h.str_len > t->len - h.hdr_len - h.str_off || !h.str_len || h.type_off % 4 || h.hdr_len % 4)
		return false;
	t->types = t->data + h.hdr_len + h.type_off;
	t->strings = (const char *)t->data + h.hdr_len + h.str_off;
	t->types_len = h.type_len;
	t->strings_len = h.str_len;
	t->at = xcalloc(most_ids(t), sizeof(*t->at));
	return !t->strings[h.str_len - 1];
}

/* Map the file, which Linux allows from 6.16 on, or read it. */
static bool read_bytes(struct kernel_types *t, int fd)
{
	struct stat s;
	size_t at = 0;
	ssize_t n = 0;

	if (fstat(fd, &s) || s.st_size <= 0)
		return false;
	t->len = (size_t)s.st_size;
	t->data = mmap(NULL, t->len, PROT_READ, MAP_PRIVATE, fd, 0);
	t->mapped = t->data != MAP_FAILED;
	if (t->mapped)
		return true;
	t->data = xmalloc(t->len);
	while (at < t->len && (n = read(fd, t->data + at, t->len - at)) > 0)
		at += (size_t)n;
	return at == t->len;
}

struct kernel_types *kernel_types_read(void)
{
	struct kernel_types *t = xcalloc(1, sizeof(*t));
	int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC);
	bool read = fd >= 0 && read_bytes(t, fd) && parse_header(t);

	if (fd >= 0)
		close(fd);
	if (read)
		return t;
	kernel_types_free(t);
	return NULL;
}

void kernel_types_free(struct kernel_types *t)
{
	if (!t)
		return;
	if (t->mapped)
		munmap(t->data, t->len);
	else
		free(t->data);
	free(t->at);
	free(t);
}

static const char *btf_text(const struct kernel_types *t, uint32_t off)
{
	return off < t->strings_len ? t->strings + off : "";
}

/* Return the id without typedefs and qualifiers. */
static uint32_t btf_plain(struct kernel_types *t, uint32_t id)
{
	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		const struct btf_type *type = btf_at(t, id);

		switch (BTF_INFO_KIND(type->info)) {
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_CONST:
		case BTF_KIND_RESTRICT:
		case KIND_TYPE_TAG:
			id = type->type;
			break;
		default:
			return id;
		}
	}
	return 0;
}

uint32_t kernel_types_function(struct kernel_types *t, const char *name, uint32_t *result)
{
	const struct btf_type *f;

	for (uint32_t id = 1; (f = btf_find(t, id)); id++) {
		if (BTF_INFO_KIND(f->info) != BTF_KIND_FUNC || strcmp(btf_text(t, f->name_off), name))
			continue;
		*result = btf_at(t, btf_plain(t, btf_at(t, f->type)->type))->size;
		return id;
	}
	return 0;
}

void kernel_types_functions(struct kernel_types *t, const char *argument,
			    void (*hook)(void *ctx, const char *name, uint32_t id), void *ctx)
{
	const struct btf_type *f, *proto, *to;

	for (uint32_t id = 1; (f = btf_find(t, id)); id++) {
		if (BTF_INFO_KIND(f->info) != BTF_KIND_FUNC)
			continue;
		proto = btf_at(t, f->type);
		if (BTF_INFO_KIND(proto->info) != BTF_KIND_FUNC_PROTO || BTF_INFO_VLEN(proto->info) != 1)
			continue;
		to = btf_at(t, btf_plain(t, ((const struct btf_param *)(proto + 1))->type));
		if (BTF_INFO_KIND(to->info) != BTF_KIND_PTR)
			continue;
		to = btf_at(t, btf_plain(t, to->type));
		if (BTF_INFO_KIND(to->info) == BTF_KIND_STRUCT &&
		    !strcmp(btf_text(t, to->name_off), argument))
			hook(ctx, btf_text(t, f->name_off), id);
	}
}

/* A subset ------------------------------------------------------------------------------- */

struct subset {
	struct kernel_types *from;
	const char **names;
	size_t nnames;
	struct buf types, strings;
	uint32_t n;		/* ids */
	uint32_t *ids;		/* by id in from; 0: not there */
	uint32_t pointer;	/* to void */
};

static int subset_order(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Return the entry of a structure's name in names[], or NULL. */
static const char **subset_find(const struct subset *s, const struct btf_type *t)
{
	const char *name = btf_text(s->from, t->name_off);

	return bsearch(&name, s->names, s->nnames, sizeof(*s->names), subset_order);
}

/* Append the name at off in the kernel's strings; return where it is in the subset's. */
static uint32_t subset_name(struct subset *s, uint32_t off)
{
	const char *text = btf_text(s->from, off);
	uint32_t at = (uint32_t)s->strings.len;

	if (!*text)
		return 0;
	buf_add(&s->strings, text, strlen(text) + 1);
	return at;
}

/* Append a type; return its id. */
static uint32_t subset_add(struct subset *s, uint32_t name, uint32_t info, uint32_t size,
			   const void *extra, size_t len)
{
	const struct btf_type t = { .name_off = name, .info = info, .size = size };

	buf_add(&s->types, &t, sizeof(t));
	buf_add(&s->types, extra, len);
	return ++s->n;
}

static uint32_t subset_type(struct subset *s, uint32_t id, int depth);

static uint32_t subset_members(struct subset *s, const struct btf_type *t, int depth)
{
	const struct btf_member *m = (const struct btf_member *)(t + 1);
	size_t n = BTF_INFO_VLEN(t->info);
	struct btf_member *out = xcalloc(n + 1, sizeof(*out));
	uint32_t id;

	for (size_t i = 0; i < n; i++) {
		out[i].name_off = subset_name(s, m[i].name_off);
		out[i].type = subset_type(s, m[i].type, depth + 1);
		out[i].offset = m[i].offset;
	}
	id = subset_add(s, subset_name(s, t->name_off), t->info, t->size, out, n * sizeof(*out));
	free(out);
	return id;
}

static uint32_t subset_new(struct subset *s, const struct btf_type *t, int depth)
{
	uint32_t kind = BTF_INFO_KIND(t->info);
	struct btf_array a;

	switch (kind) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		if (!t->name_off || subset_find(s, t))
			return subset_members(s, t, depth);
		break;
	case BTF_KIND_ARRAY:
		a = *(const struct btf_array *)(t + 1);
		a.type = subset_type(s, a.type, depth + 1);
		a.index_type = subset_type(s, a.index_type, depth + 1);
		return subset_add(s, 0, t->info, t->size, &a, sizeof(a));
	case BTF_KIND_PTR:
		if (!s->pointer)
			s->pointer = subset_add(s, 0, t->info, 0, NULL, 0);
		return s->pointer;
	case BTF_KIND_INT:
		return subset_add(s, subset_name(s, t->name_off), t->info, t->size, t + 1, 4);
	}
	/* of others, the kind and the size are enough */
	return subset_add(s, subset_name(s, t->name_off), kind << 24, t->size, NULL, 0);
}

/* Return the id in the subset of what a member or element is. */
static uint32_t subset_type(struct subset *s, uint32_t id, int depth)
{
	id = btf_plain(s->from, id);
	if (!id || depth > DEPTH_MAX)
		return 0;
	if (!s->ids[id])
		s->ids[id] = subset_new(s, btf_at(s->from, id), depth);
	return s->ids[id];
}

bool kernel_types_subset(struct kernel_types *t, const char **names, size_t n, int fd)
{
	struct subset s = { .from = t, .names = names, .nnames = n };
	struct btf_header h = { .magic = BTF_MAGIC, .version = BTF_VERSION, .hdr_len = sizeof(h) };
	bool *found = xcalloc(n, sizeof(*found)), written;
	const struct btf_type *type;
	size_t left = n;

	qsort(names, n, sizeof(*names), subset_order);
	s.ids = xcalloc(most_ids(t), sizeof(*s.ids));
	buf_addc(&s.strings, '\0');
	/* the first structure of each name; the kernel's types end some ten times further */
	for (uint32_t id = 1; left && (type = btf_find(t, id)); id++) {
		const char **name = BTF_INFO_KIND(type->info) == BTF_KIND_STRUCT ?
				    subset_find(&s, type) : NULL;

		if (!name || found[name - names])
			continue;
		found[name - names] = true;
		left--;
		subset_type(&s, id, 0);
	}
	free(found);
	h.type_len = h.str_off = (uint32_t)s.types.len;
	h.str_len = (uint32_t)s.strings.len;
	written = t->end != UNKNOWN_KIND && write(fd, &h, sizeof(h)) == sizeof(h) &&
		  write(fd, s.types.data, s.types.len) == (ssize_t)s.types.len &&
		  write(fd, s.strings.data, s.strings.len) == (ssize_t)s.strings.len;
	buf_free(&s.types);
	buf_free(&s.strings);
	free(s.ids);
	return written;
}
