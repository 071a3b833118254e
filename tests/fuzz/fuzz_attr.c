// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Attrs, as bytes and as text in all forms that are read.  What an attr is printed
 * as is read back and printed the same.
 */
#include "../unit/fake.h"
#include "core/abi/attr.h"
#include "core/abi/attr_text.h"
#include "fuzz.h"

enum { ADDR = 0x10000 };

static void emit(void *ctx, struct sink *s)
{
	const struct call *c = ctx;

	sink_begin(s, "call", SINK_OBJECT);
	attr_emit(c, AT_SYSCALL_ENTER, "attr", ADDR, &fake_names, s);
	sink_end(s);
}

static void show(const struct attr_text *a, struct buf *out)
{
	struct call c = { .desc = call_by_name("perf_event_open"), .arch = arch_native() };
	struct text_sink t;

	attr_text_capture(a, &c, ADDR);
	if (!out) {
		fuzz_sinks(emit, &c);
	} else {
		buf_reset(out);
		text_sink_init(&t, out);
		t.sink.full = true;
		t.sink.max_string = 2 * ATTR_TEXT_MAX;
		text_sink_top(&t, false, c.desc);
		attr_emit(&c, AT_SYSCALL_ENTER, "attr", ADDR, &fake_names, &t.sink);
	}
	call_free(&c);
}

static void there_and_back(const struct attr_text *a)
{
	static struct attr_text again;
	static struct buf first, second;
	struct attr_reader r;

	show(a, &first);
	/* there were not as many bytes as it says, or more */
	if (strstr(buf_str(&first), "/* unreadable") || strstr(buf_str(&first), ": the kernel "))
		return;
	attr_reader_init(&r, buf_str(&first), first.len);
	if (attr_reader_next(&r, &again) != ATTR_READ)
		return; /* text has forms for less than there can be in memory */
	show(&again, &second);
	if (strcmp(buf_str(&first), buf_str(&second))) {
		printf("# %s\n", buf_str(&first));
		fuzz_wrong("read back as", buf_str(&second));
	}
}

/* Show what the reader says of the text, beside the members. */
static void show_read(const struct attr_reader *r, enum attr_read got, struct attr_text *a)
{
	const struct attr_text_call *c = &a->call;

	if (!fuzz_shows())
		return;
	printf("style %d, result %d: %s\n", r->style, got, got == ATTR_BAD ? r->in.why : "");
	if (got != ATTR_READ)
		return;
	printf("label %s, given %zu, elided %d, call %d: %d %d %d %#llx, returned %d %d\n", a->label,
	       a->given, a->elided, c->given, c->pid, c->cpu, c->group_fd, (unsigned long long)c->flags,
	       c->returned, c->error);
	fuzz_show_bytes("bytes", a->bytes, a->len);
	for (size_t i = 0; i < a->nstrings; i++)
		fuzz_show_bytes("string", a->pool + a->strings[i].at, a->strings[i].len);
	attr_text_swap(a);
	fuzz_show_bytes("swapped", a->bytes, a->len);
	attr_text_swap(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct attr_text a;
	static struct buf doubts;
	struct attr_reader r;
	struct text_cursor c = { 0 };
	enum attr_read got;

	if (attr_text_bytes(&c, data, len, &a)) {
		show(&a, NULL);
		there_and_back(&a);
	}
	attr_reader_init(&r, (const char *)data, len);
	for (int i = 0; i < 64 && (got = attr_reader_next(&r, &a)) != ATTR_END; i++) {
		buf_reset(&doubts);
		show_read(&r, got, &a);
		if (got == ATTR_READ && !a.ioctl.given) {
			attr_text_doubts(&a, &doubts);
			fuzz_show(&doubts);
			show(&a, NULL);
		} else if (got == ATTR_BAD) {
			/* as verbs do, go on behind it */
			if (r.resume < r.in.at && r.style != ATTR_LINES)
				fuzz_wrong("resumes before", r.in.at);
			r.in.at = r.resume;
			*r.in.why = '\0';
		}
	}
	return 0;
}
