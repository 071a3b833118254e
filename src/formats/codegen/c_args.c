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

static void args_add_enum(struct c_args *a, struct buf *out, const struct xlat *x, uint64_t v)
{
	/* the table of ioctl requests names no header: perf_event.h defines them */
	if (!x->header && xlat_name(x, v))
		buf_adds(out, xlat_name(x, v));
	else
		c_add_enum(out, a->needs, x, v);
}

static void args_put(struct sink *s, const char *key, const struct value *v)
{
	struct c_args *a = args_self(s);
	struct buf *out = args_value(a, key);

	if (v->kind == VALUE_SYMBOL) /* signals are symbols */
		c_need_header(a->needs, "signal.h");
	if (!out)
		return;
	switch (v->kind) {
	case VALUE_UINT:
		c_add_number(out, v->number);
		break;
	case VALUE_SINT:
		buf_addf(out, "%" PRId64, (int64_t)v->number);
		break;
	case VALUE_ADDR:
		buf_adds(out, v->number ? "(void *)" : "NULL");
		if (v->number)
			c_add_hex(out, v->number);
		break;
	case VALUE_HEX:
	case VALUE_PACKED:
		if (v->number)
			c_add_hex(out, v->number);
		else
			buf_addc(out, '0');
		break;
	case VALUE_ENUM:
		args_add_enum(a, out, v->xlat, v->number);
		break;
	case VALUE_FLAGS:
		c_add_flags(out, a->needs, v->xlat, v->number);
		break;
	case VALUE_SYMBOL:
		c_comment(out, v->text, v->len);
		break;
	case VALUE_STRING:
	case VALUE_BYTES:
		c_string(out, v->text, v->len);
		break;
	case VALUE_FD:
		a->fd(a->ctx, key, (int64_t)v->number, out);
		break;
	}
}

static void args_note(struct sink *s, const char *key, const char *text)
{
	(void)s, (void)key, (void)text;
}

static const struct sink_ops args_ops = {
	.begin = args_begin, .end = args_end, .value = args_put, .note = args_note,
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
