// SPDX-License-Identifier: LGPL-2.1-or-later
/* Printing and visiting attrs, ioctls, records and counts. */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/abi/attr.h"
#include "core/abi/ioctl.h"
#include "core/abi/read_format.h"
#include "core/abi/record.h"
#include "core/model/event_name.h"
#include "formats/codegen/c_attr.h"
#include "formats/json/json_text.h"
#include "formats/text/text.h"
#include "public/copy_out.h"
#include "public/machine.h"
#include "public/visit.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

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

static size_t window_read_own(uint64_t addr, void *dst, size_t len)
{
	struct iovec to = { dst, len };
	struct iovec from = { (void *)(uintptr_t)addr, len };
	ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);

	return got > 0 ? (size_t)got : 0;
}

/* Read up to the first page that is not mapped; a call of the system reads whole iovecs only. */
static size_t window_read_pages(uint64_t addr, uint8_t *dst, size_t len)
{
	const size_t page = 4096; /* the least of all machines */
	size_t done = 0;

	while (done < len) {
		size_t n = page - (size_t)((addr + done) % page);

		n = n < len - done ? n : len - done;
		if (window_read_own(addr + done, dst + done, n) != n)
			break;
		done += n;
	}
	return done;
}

static size_t window_read(const struct mem *m, uint64_t addr, void *dst, size_t len)
{
	const struct window *w = (const struct window *)m; /* mem is its first member */

	if (w->bytes && addr >= w->at && addr - w->at <= w->len) {
		size_t left = w->len - (size_t)(addr - w->at);

		len = len < left ? len : left;
		memcpy(dst, w->bytes + (addr - w->at), len);
		return len;
	}
	return w->follow ? window_read_pages(addr, dst, len) : 0;
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

static void subject_of_ioctl(struct subject *x, const struct pevtrace_machine *m,
			  const struct pevtrace_ioctl *call, unsigned int how)
{
	subject_init(x, m, subject_ioctl);
	x->call.args[1] = call->request;
	x->call.args[2] = call->argument;
	x->call.returned = call->returned;
	x->call.failed = call->error;
	x->call.ret = call->error;
	subject_capture_ioctl(x, AT_SYSCALL_ENTER, call->before, call->before_len, how);
	if (call->returned)
		subject_capture_ioctl(x, AT_SYSCALL_EXIT, call->after, call->after_len, how);
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

static void subject_text(const struct subject *x, unsigned int how, struct buf *out)
{
	struct text_sink t;

	text_sink_init(&t, out);
	t.labels = true;
	t.sink.full = how & PEVTRACE_ALL;
	t.sink.max_string = 4096;
	x->emit(x, &t.sink);
}

static void subject_json(const struct subject *x, unsigned int how, struct buf *out)
{
	struct json_text j;

	json_text_begin(&j);
	j.sink.full = how & PEVTRACE_ALL;
	x->emit(x, &j.sink);
	*out = json_text_end(&j);
}

/* Write the bits of members that are newer than the headers as words of 8 bytes. */
static void subject_c_rest(const struct c_attr *a, struct buf *out)
{
	if (a->unnamed.len)
		buf_addf(out, "/* %s */\n", buf_str(&a->unnamed));
	for (size_t at = 0; at + 8 <= a->size; at += 8) {
		uint64_t word = load_uint(a->rest + at, 8);

		if (word)
			buf_addf(out, "((uint64_t *)&attr)[%zu] |= 0x%llxULL;\n", at / 8,
				 (unsigned long long)word);
	}
}

static int subject_c(const struct subject *x, struct buf *out)
{
	struct c_needs needs = { 0 };
	struct c_attr a;
	bool made = c_attr_make(&a, &x->call, (uintptr_t)x->attr, &x->lookup.names, false, &needs);
	int failed = a.failed ? -ENOMEM : made ? 0 : -EINVAL;

	for (size_t i = 0; !failed && i < needs.ndefines; i++)
		buf_addf(out, "#ifndef %s\n#define %s 0x%llx\n#endif\n", needs.defines[i]->name,
			 needs.defines[i]->name, (unsigned long long)needs.defines[i]->value);
	if (!failed) {
		buf_adds(out, "struct perf_event_attr attr = {\n");
		for (size_t i = 0; i < a.nmembers; i++)
			c_member_write(out, &a.members[i], true);
		buf_adds(out, "};\n");
		for (size_t i = 0; i < a.nsets; i++)
			buf_addf(out, "attr.%s = %s;\n", a.sets[i].member,
				 buf_str(&a.sets[i].value));
		subject_c_rest(&a, out);
	}
	c_attr_free(&a);
	c_needs_free(&needs);
	return failed;
}

static ssize_t subject_print(struct subject *x, unsigned int how, char *buf, size_t n)
{
	struct buf out = { 0 };
	int result = 0;

	if (how & ~(unsigned int)HOW_KNOWN)
		result = -EINVAL;
	else if ((how & HOW_FORM) == PEVTRACE_TEXT)
		subject_text(x, how, &out);
	else if ((how & HOW_FORM) == PEVTRACE_JSON)
		subject_json(x, how, &out);
	else if ((how & HOW_FORM) == PEVTRACE_C && x->emit == subject_attr)
		result = subject_c(x, &out);
	else
		result = -EINVAL;
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
	struct visit_sink v;

	visit_sink_init(&v, visit, context);
	v.sink.full = how & PEVTRACE_ALL;
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
	struct buf out = { 0 };

	machine_lookup_init(&lookup, m);
	event_name(attr, len, &lookup.names, &out);
	out.failed |= lookup.terms.failed;
	machine_lookup_free(&lookup);
	return copy_out(&out, buf, n);
}

/* Copy what the caller's version of the struct has; return false if its size makes no sense. */
static bool subject_copy_ioctl(const struct pevtrace_ioctl *call, struct pevtrace_ioctl *out)
{
	*out = (struct pevtrace_ioctl){ 0 };
	if (call->size < offsetof(struct pevtrace_ioctl, before))
		return false;
	memcpy(out, call, call->size < sizeof(*out) ? call->size : sizeof(*out));
	return true;
}

ssize_t pevtrace_ioctl_print(const struct pevtrace_machine *m, const struct pevtrace_ioctl *call,
			     unsigned int how, char *buf, size_t n)
{
	struct pevtrace_ioctl copy;
	struct subject x;

	if (!subject_copy_ioctl(call, &copy))
		return -EINVAL;
	subject_of_ioctl(&x, m, &copy, how);
	return subject_print(&x, how, buf, n);
}

int pevtrace_ioctl_visit(const struct pevtrace_machine *m, const struct pevtrace_ioctl *call,
			 unsigned int how, pevtrace_visit_fn *visit, void *context)
{
	struct pevtrace_ioctl copy;
	struct subject x;

	if (!subject_copy_ioctl(call, &copy))
		return -EINVAL;
	subject_of_ioctl(&x, m, &copy, how);
	return subject_visit(&x, how, visit, context);
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
