// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/codegen/c_args.h"

#include <inttypes.h>
#include <string.h>

#include "core/abi/call_decode.h"

static struct c_args *args_self(struct sink *s)
{
	return (struct c_args *)s;
}

/* Begin an argument, or a member of the last one; return where to write its value. */
static struct buf *args_value(struct c_args *a, const char *key)
{
	struct buf *out;

	if (!a->depth)
		return a->n < CALL_MAX_ARGS ? &a->text[a->n++] : NULL;
	if (!a->n || (key && !strcmp(key, "u32"))) /* shares its place with u64 */
		return NULL;
	out = &a->text[a->n - 1];
	if (a->any)
		buf_adds(out, ", ");
	if (key)
		buf_addf(out, ".%s = ", key);
	a->any = true;
	return out;
}

static void args_begin(struct sink *s, const char *key, enum sink_shape shape)
{
	struct c_args *a = args_self(s);
	struct buf *out = args_value(a, key);

	if (out && !a->depth)
		buf_addf(out, "&(%s%s){ ", shape == SINK_ARRAY ? "" : "struct ",
			 shape == SINK_ARRAY ? "uint64_t" : a->object ? a->object : "any");
	else if (out)
		buf_adds(out, "{ ");
	a->depth++;
	a->any = false;
}

static void args_end(struct sink *s)
{
	struct c_args *a = args_self(s);

	a->depth--;
	if (a->n)
		buf_adds(&a->text[a->n - 1], " }");
	a->any = true;
}

static void args_uint(struct sink *s, const char *key, uint64_t v)
{
	struct buf *out = args_value(args_self(s), key);

	if (out)
		c_add_number(out, v);
}

static void args_sint(struct sink *s, const char *key, int64_t v)
{
	struct buf *out = args_value(args_self(s), key);

	if (out)
		buf_addf(out, "%" PRId64, v);
}

static void args_hex(struct sink *s, const char *key, uint64_t v)
{
	struct buf *out = args_value(args_self(s), key);

	if (out && v)
		c_add_hex(out, v);
	else if (out)
		buf_addc(out, '0');
}

static void args_addr(struct sink *s, const char *key, uint64_t v)
{
	struct buf *out = args_value(args_self(s), key);

	if (!out)
		return;
	buf_adds(out, v ? "(void *)" : "NULL");
	if (v)
		c_add_hex(out, v);
}

static void args_enum(struct sink *s, const char *key, const struct xlat *x, uint64_t v)
{
	struct c_args *a = args_self(s);
	struct buf *out = args_value(a, key);

	/* the table of ioctl requests names no header: perf_event.h defines them */
	if (out && !x->header && xlat_name(x, v))
		buf_adds(out, xlat_name(x, v));
	else if (out)
		c_add_enum(out, a->needs, x, v);
}

static void args_flags(struct sink *s, const char *key, const struct xlat *x, uint64_t v)
{
	struct c_args *a = args_self(s);
	struct buf *out = args_value(a, key);

	if (out)
		c_add_flags(out, a->needs, x, v);
}

static void args_packed(struct sink *s, const char *key, uint64_t raw,
			const struct sink_part *parts, size_t n)
{
	(void)parts, (void)n;
	args_hex(s, key, raw);
}

static void args_symbol(struct sink *s, const char *key, const char *word)
{
	struct buf *out = args_value(args_self(s), key);

	/* signals are symbols */
	c_need_header(args_self(s)->needs, "signal.h");
	if (out)
		c_comment(out, word, strlen(word));
}

static void args_string(struct sink *s, const char *key, const char *bytes, size_t len,
			bool cut)
{
	struct buf *out = args_value(args_self(s), key);

	(void)cut;
	if (out)
		c_string(out, bytes, len);
}

static void args_bytes(struct sink *s, const char *key, const void *bytes, size_t len,
		       bool cut)
{
	args_string(s, key, bytes, len, cut);
}

static void args_fd(struct sink *s, const char *key, int64_t fd, const char *label)
{
	struct c_args *a = args_self(s);
	struct buf *out = args_value(a, key);

	(void)label;
	if (out)
		a->fd(a->ctx, key, fd, out);
}

static void args_note(struct sink *s, const char *key, const char *text)
{
	(void)s, (void)key, (void)text;
}

static const struct sink_ops args_ops = {
	.begin = args_begin, .end = args_end, .uint = args_uint, .sint = args_sint,
	.hex = args_hex, .addr = args_addr, .enumeration = args_enum, .flags = args_flags,
	.packed = args_packed, .symbol = args_symbol, .string = args_string,
	.bytes = args_bytes, .fd = args_fd, .note = args_note,
};

void c_args_make(struct c_args *a, const struct call *c, const struct names *names)
{
	a->sink = (struct sink){ .ops = &args_ops, .max_string = SIZE_MAX };
	call_args(c, AT_SYSCALL_ENTER, names, &a->sink);
	call_args(c, AT_SYSCALL_EXIT, names, &a->sink);
}

void c_args_free(struct c_args *a)
{
	for (size_t i = 0; i < CALL_MAX_ARGS; i++)
		buf_free(&a->text[i]);
}
