// SPDX-License-Identifier: LGPL-2.1-or-later
/* Printing and visiting attrs, ioctls, records and counts. */
#include <errno.h>
#include <string.h>

#include "core/abi/attr.h"
#include "core/abi/ioctl.h"
#include "core/abi/read_format.h"
#include "core/abi/record.h"
#include "core/abi/tables.h"
#include "core/host/proc.h"
#include "core/model/event_name.h"
#include "formats/codegen/c_attr.h"
#include "formats/json/json_text.h"
#include "formats/text/text.h"
#include "public/machine.h"

/* Passing values ------------------------------------------------------------------------ */

/* The sink that passes values to a function of the library's caller. */
struct visit_sink {
	struct sink sink;
	pevtrace_visit_fn *visit;
	void *context;
	int ended;	/* what visit returned to end; 0: it goes on */
};

static void visit_pass(struct sink *s, enum pevtrace_kind kind, const char *key,
		       struct pevtrace_item item)
{
	struct visit_sink *v = (struct visit_sink *)s; /* sink is its first member */

	if (v->ended)
		return;
	item.size = sizeof(item);
	item.kind = kind;
	item.key = key;
	v->ended = v->visit(v->context, &item);
}

static void visit_begin(struct sink *s, const char *key, enum sink_shape shape)
{
	visit_pass(s, shape == SINK_OBJECT ? PEVTRACE_OBJECT : PEVTRACE_ARRAY, key,
		   (struct pevtrace_item){ 0 });
}

static void visit_end(struct sink *s)
{
	visit_pass(s, PEVTRACE_END, NULL, (struct pevtrace_item){ 0 });
}

static void visit_value(struct sink *s, const char *key, const struct value *v)
{
	static const enum pevtrace_kind kinds[] = {
		[VALUE_UINT] = PEVTRACE_UNSIGNED, [VALUE_SINT] = PEVTRACE_SIGNED,
		[VALUE_HEX] = PEVTRACE_MASK, [VALUE_ADDR] = PEVTRACE_ADDRESS,
		[VALUE_ENUM] = PEVTRACE_CONSTANT, [VALUE_FLAGS] = PEVTRACE_FLAGS,
		[VALUE_PACKED] = PEVTRACE_PACKED, [VALUE_SYMBOL] = PEVTRACE_WORD,
		[VALUE_STRING] = PEVTRACE_STRING, [VALUE_BYTES] = PEVTRACE_BYTES,
		[VALUE_FD] = PEVTRACE_FD,
	};
	struct pevtrace_item item = {
		.number = v->number, .text = v->text, .length = v->len, .truncated = v->cut,
		.reserved = { v->xlat },
	};

	if (v->kind == VALUE_ENUM && (item.text = xlat_name(v->xlat, v->number)))
		item.length = strlen(item.text);
	if (v->kind == VALUE_PACKED) {
		item.reserved[0] = v->parts;
		item.reserved[1] = v->parts + v->len;
		item.length = 0;
	}
	visit_pass(s, kinds[v->kind], key, item);
}

static void visit_note(struct sink *s, const char *key, const char *text)
{
	visit_pass(s, PEVTRACE_NOTE, key, (struct pevtrace_item){
		.text = text, .length = strlen(text),
	});
}

static const struct sink_ops visit_ops = {
	.begin = visit_begin, .end = visit_end, .value = visit_value, .note = visit_note,
};

/* What a caller asks of an item --------------------------------------------------------- */

const char *pevtrace_item_flag(const struct pevtrace_item *item, size_t *at, uint64_t *rest)
{
	const struct xlat_entry *e = item->kind == PEVTRACE_FLAGS ?
		xlat_next_flag(item->reserved[0], rest, at) : NULL;

	return e ? e->name : NULL;
}

static void visit_write_item(const struct pevtrace_item *i, struct sink *s)
{
	const struct sink_part *parts = i->reserved[0];

	switch (i->kind) {
	case PEVTRACE_UNSIGNED:
		sink_uint(s, NULL, i->number);
		break;
	case PEVTRACE_SIGNED:
	case PEVTRACE_FD:
		sink_fd(s, NULL, (int64_t)i->number, i->text);
		break;
	case PEVTRACE_MASK:
		sink_hex(s, NULL, i->number);
		break;
	case PEVTRACE_ADDRESS:
		sink_addr(s, NULL, i->number);
		break;
	case PEVTRACE_CONSTANT:
		sink_enum(s, NULL, i->reserved[0], i->number);
		break;
	case PEVTRACE_FLAGS:
		sink_flags(s, NULL, i->reserved[0], i->number);
		break;
	case PEVTRACE_PACKED:
		sink_packed(s, NULL, i->number, parts,
			    (size_t)((const struct sink_part *)i->reserved[1] - parts));
		break;
	case PEVTRACE_WORD:
		sink_symbol(s, NULL, i->text);
		break;
	case PEVTRACE_STRING:
		sink_string(s, NULL, i->text, i->length, i->truncated);
		break;
	case PEVTRACE_BYTES:
		sink_bytes(s, NULL, i->text, i->length, i->truncated);
		break;
	case PEVTRACE_NOTE:
		sink_note(s, i->key, i->text);
		break;
	default:
		break;	/* the begin and the end of an object have no text */
	}
}

ssize_t pevtrace_item_text(const struct pevtrace_item *item, char *buf, size_t n)
{
	struct buf out = { 0 };
	struct text_sink t;

	text_sink_init(&t, &out);
	t.sink.max_string = SIZE_MAX;
	t.labels = true;
	visit_write_item(item, &t.sink);
	return copy_out(&out, buf, n);
}

/* The parts of how. */
enum { HOW_FORM = 0xff, HOW_KNOWN = HOW_FORM | PEVTRACE_ALL | PEVTRACE_FOLLOW };

/* What to print: an attr, and what is read by it. */
struct subject {
	struct machine_lookup lookup;
	struct call call;	/* with the attr captured, or the ioctl */
	const uint8_t *attr, *bytes;	/* the caller's; may be NULL */
	size_t attr_len, len;
	void (*emit)(const struct subject *x, struct sink *s);
};

/* Memory of the caller ------------------------------------------------------------------- */

/* Bytes that stand for the memory at an address. */
struct window {
	struct mem mem;
	uint64_t at;
	const uint8_t *bytes;
	size_t len;
	bool follow;	/* elsewhere, read the memory of this process */
};

static size_t window_read(const struct mem *m, uint64_t addr, void *dst, size_t len)
{
	const struct window *w = (const struct window *)m; /* mem is its first member */

	if (w->bytes && addr >= w->at && addr - w->at <= w->len) {
		size_t left = w->len - (size_t)(addr - w->at);

		len = len < left ? len : left;
		memcpy(dst, w->bytes + (addr - w->at), len);
		return len;
	}
	return w->follow ? own_memory_read(addr, dst, len) : 0;
}

/* Subjects ------------------------------------------------------------------------------- */

static void subject_init(struct subject *x, const struct pevtrace_machine *m,
			 void (*emit)(const struct subject *x, struct sink *s))
{
	*x = (struct subject){ .emit = emit, .call = { .arch = arch_native() } };
	machine_lookup_init(&x->lookup, m);
}

static int subject_free(struct subject *x, int result)
{
	bool failed = x->call.pool.failed;

	machine_lookup_free(&x->lookup);
	call_free(&x->call);
	return failed ? -ENOMEM : result;
}

static void subject_attr(const struct subject *x, struct sink *s)
{
	attr_emit(&x->call, AT_SYSCALL_ENTER, "attr", (uintptr_t)x->attr, &x->lookup.names, s);
}

static void subject_of_attr(struct subject *x, const struct pevtrace_machine *m, const void *attr,
			 size_t len, unsigned int how)
{
	const struct window w = {
		.mem = { window_read }, .at = (uintptr_t)attr, .bytes = attr, .len = len,
		.follow = how & PEVTRACE_FOLLOW,
	};

	subject_init(x, m, subject_attr);
	x->attr = attr;
	attr_capture(&x->call, AT_SYSCALL_ENTER, w.at, &w.mem, &x->lookup.names);
}

static void subject_ioctl(const struct subject *x, struct sink *s)
{
	ioctl_emit_request(&x->call, "request", s);
	ioctl_emit_arg(&x->call, "argument", x->call.args[2], &x->lookup.names, s);
	ioctl_result_notes(&x->call, s);
}

static void subject_capture_ioctl(struct subject *x, enum call_phase phase, const void *bytes,
				  size_t len, unsigned int how)
{
	const struct window w = {
		.mem = { window_read }, .at = x->call.args[2], .bytes = bytes, .len = len,
		.follow = how & PEVTRACE_FOLLOW,
	};

	ioctl_capture(&x->call, phase, x->call.args[2], &w.mem, &x->lookup.names);
}

/* Return false if the size in the caller's struct makes no sense. */
static bool subject_of_ioctl(struct subject *x, const struct pevtrace_machine *m,
			     const struct pevtrace_ioctl *call, unsigned int how)
{
	struct pevtrace_ioctl has = { 0 };	/* what the caller's version of the struct has */

	if (call->size < offsetof(struct pevtrace_ioctl, before))
		return false;
	memcpy(&has, call, call->size < sizeof(has) ? call->size : sizeof(has));
	subject_init(x, m, subject_ioctl);
	x->call.args[1] = has.request;
	x->call.args[2] = has.argument;
	x->call.returned = has.returned;
	x->call.failed = has.error;
	x->call.ret = has.error;
	subject_capture_ioctl(x, AT_SYSCALL_ENTER, has.before, has.before_len, how);
	if (has.returned)
		subject_capture_ioctl(x, AT_SYSCALL_EXIT, has.after, has.after_len, how);
	return true;
}

static const char *subject_symbol(void *ctx, int32_t pid, uint64_t ip, unsigned int cpumode,
				    bool after_call)
{
	const struct names *n = ctx;

	return n->symbol ? n->symbol(n, pid, ip, cpumode, after_call) : NULL;
}

static void subject_record(const struct subject *x, struct sink *s)
{
	const struct record_hooks hooks = {
		.ctx = (void *)&x->lookup.names, .symbol = subject_symbol,
	};
	struct record_format f;

	record_format_of(&f, x->attr, x->attr_len, arch_native());
	record_emit(x->bytes, x->len, &f, &x->lookup.names, s, &hooks);
}

static void subject_counts(const struct subject *x, struct sink *s)
{
	uint64_t format = layout_get(&layout_perf_event_attr, ATTR_READ_FORMAT, x->attr,
				     x->attr_len);

	read_format_emit(x->bytes, x->len, format, "counts", &x->lookup.names, s);
}

static void subject_of_bytes(struct subject *x, const struct pevtrace_machine *m, const void *attr,
			  size_t attr_len, const void *bytes, size_t len,
			  void (*emit)(const struct subject *x, struct sink *s))
{
	subject_init(x, m, emit);
	x->attr = attr ? attr : (const uint8_t *)"";
	x->attr_len = attr ? attr_len : 0;
	x->bytes = bytes;
	x->len = len;
}

/* Forms ---------------------------------------------------------------------------------- */

static ssize_t subject_print(struct subject *x, unsigned int how, char *buf, size_t n)
{
	struct buf out = { 0 };
	struct text_sink t;
	struct json_text j;
	int result = 0;

	if (how & ~(unsigned int)HOW_KNOWN) {
		result = -EINVAL;
	} else if ((how & HOW_FORM) == PEVTRACE_TEXT) {
		text_sink_init(&t, &out);
		t.labels = true;
		t.sink.full = how & PEVTRACE_ALL;
		t.sink.max_string = 4096;
		x->emit(x, &t.sink);
	} else if ((how & HOW_FORM) == PEVTRACE_JSON) {
		json_text_begin(&j);
		j.sink.full = how & PEVTRACE_ALL;
		x->emit(x, &j.sink);
		out = json_text_end(&j);
	} else if ((how & HOW_FORM) == PEVTRACE_C && x->emit == subject_attr) {
		result = c_attr_write(&out, &x->call, (uintptr_t)x->attr, &x->lookup.names);
	} else {
		result = -EINVAL;
	}
	out.failed |= x->lookup.terms.failed;
	result = subject_free(x, result);
	if (result < 0) {
		buf_reset(&out);
		copy_out(&out, buf, n);
		return result;
	}
	return copy_out(&out, buf, n);
}

static int subject_visit(struct subject *x, unsigned int how, pevtrace_visit_fn *visit,
			 void *context)
{
	struct visit_sink v = {
		.sink = { .ops = &visit_ops, .max_string = SIZE_MAX, .full = how & PEVTRACE_ALL },
		.visit = visit, .context = context,
	};

	if (how & ~(unsigned int)HOW_KNOWN)
		return subject_free(x, -EINVAL);
	x->emit(x, &v.sink);
	return subject_free(x, v.ended);
}

/* The public functions --------------------------------------------------------------------- */

ssize_t pevtrace_attr_print(const struct pevtrace_machine *m, const void *attr, size_t len,
			    unsigned int how, char *buf, size_t n)
{
	struct subject x;

	subject_of_attr(&x, m, attr, len, how);
	return subject_print(&x, how, buf, n);
}

int pevtrace_attr_visit(const struct pevtrace_machine *m, const void *attr, size_t len,
			unsigned int how, pevtrace_visit_fn *visit, void *context)
{
	struct subject x;

	subject_of_attr(&x, m, attr, len, how);
	return subject_visit(&x, how, visit, context);
}

ssize_t pevtrace_event_name(const struct pevtrace_machine *m, const void *attr, size_t len,
			    char *buf, size_t n)
{
	struct machine_lookup lookup;
	struct buf name = { 0 }, out = { 0 };

	machine_lookup_init(&lookup, m);
	event_name(attr, len, &lookup.names, &name);
	text_escaped(&out, buf_str(&name)); /* it has texts of the caller's functions */
	out.failed |= name.failed | lookup.terms.failed;
	buf_free(&name);
	machine_lookup_free(&lookup);
	return copy_out(&out, buf, n);
}

ssize_t pevtrace_ioctl_print(const struct pevtrace_machine *m, const struct pevtrace_ioctl *call,
			     unsigned int how, char *buf, size_t n)
{
	struct subject x;

	return subject_of_ioctl(&x, m, call, how) ? subject_print(&x, how, buf, n) : -EINVAL;
}

int pevtrace_ioctl_visit(const struct pevtrace_machine *m, const struct pevtrace_ioctl *call,
			 unsigned int how, pevtrace_visit_fn *visit, void *context)
{
	struct subject x;

	return subject_of_ioctl(&x, m, call, how) ? subject_visit(&x, how, visit, context) :
						    -EINVAL;
}

ssize_t pevtrace_record_print(const struct pevtrace_machine *m, const void *attr,
			      size_t attr_len, const void *record, size_t len,
			      unsigned int how, char *buf, size_t n)
{
	struct subject x;

	subject_of_bytes(&x, m, attr, attr_len, record, len, subject_record);
	return subject_print(&x, how, buf, n);
}

int pevtrace_record_visit(const struct pevtrace_machine *m, const void *attr, size_t attr_len,
			  const void *record, size_t len, unsigned int how,
			  pevtrace_visit_fn *visit, void *context)
{
	struct subject x;

	subject_of_bytes(&x, m, attr, attr_len, record, len, subject_record);
	return subject_visit(&x, how, visit, context);
}

ssize_t pevtrace_counts_print(const struct pevtrace_machine *m, const void *attr,
			      size_t attr_len, const void *counts, size_t len,
			      unsigned int how, char *buf, size_t n)
{
	struct subject x;

	subject_of_bytes(&x, m, attr, attr_len, counts, len, subject_counts);
	return subject_print(&x, how, buf, n);
}

int pevtrace_counts_visit(const struct pevtrace_machine *m, const void *attr, size_t attr_len,
			  const void *counts, size_t len, unsigned int how,
			  pevtrace_visit_fn *visit, void *context)
{
	struct subject x;

	subject_of_bytes(&x, m, attr, attr_len, counts, len, subject_counts);
	return subject_visit(&x, how, visit, context);
}
