/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * struct perf_event_attr read back from text: as pevtrace, strace, perf trace, gdb, bpftrace, libbpf,
 * Go, Rust and Python print it, as C initializes it, as perf -vv and perf evlist -v list it, as
 * PERF_TEST_ATTR writes it to files, and as dumps of bytes.
 */
#pragma once

#include "core/abi/bytes_text.h"
#include "core/abi/call.h"

enum { ATTR_TEXT_MAX = 4096, ATTR_TEXT_STRINGS = 2 };

/* The other arguments of a perf_event_open(2) in a text, and its result. */
struct attr_text_call {
	bool given;
	int32_t pid, cpu, group_fd;
	uint64_t flags;
	bool returned;		/* the text has the result */
	int error;		/* positive errno, 0: it opened */
	int32_t fd;		/* its descriptor, if it opened */
	int32_t tid;		/* the caller, 0: the text does not say */
};

/* An ioctl(2) of perf in a log of calls, whose arguments are numbers. */
struct attr_text_ioctl {
	bool given;
	int32_t fd;
	uint64_t request, arg;
	struct attr_text_call result;	/* only its result */
};

/* One attr, or an ioctl of a log in its place, and what the text says beside its bytes. */
struct attr_text {
	uint8_t bytes[ATTR_TEXT_MAX];
	size_t len;		/* the bytes that its size member covers */
	size_t given;		/* the bytes in the text, 0: it was not in bytes */
	char label[256];	/* its name in the text, or "" */
	bool elided;		/* "...": members were omitted; zero here, they are unknown */
	bool packed;		/* the flags were one number */
	bool again;		/* the attr is that of the call before */
	char left_out[160];	/* names that no member has, and members whose value is not known */
	struct attr_text_call call;	/* if the attr is an argument of a call in the text */
	struct attr_text_ioctl ioctl;	/* in place of an attr */
	/* strings that members point to, at synthetic addresses */
	size_t nstrings;
	struct {
		uint64_t addr;
		size_t at, len;	/* in pool, with its NUL */
	} strings[ATTR_TEXT_STRINGS];
	uint8_t pool[ATTR_TEXT_MAX];
	size_t pooled;
};

/* The form of the text. */
enum attr_style {
	ATTR_UNKNOWN, ATTR_BYTES, ATTR_DUMPS, ATTR_BRACES, ATTR_STATEMENTS, ATTR_COLUMNS,
	ATTR_BARE_COLUMNS, ATTR_LINES, ATTR_SECTIONS,
};

/* Reads all attrs of a text, one after the other. */
struct attr_reader {
	struct text_cursor in;
	const char *start;
	enum attr_style style;
	bool calls;		/* a log of calls: braces of other calls are skipped */
	const char *columns;	/* the attr of the calls that follow, or NULL */
	const char *resume;	/* where reading goes on behind an attr that is wrong */
};

enum attr_read { ATTR_END, ATTR_READ, ATTR_BAD };

/* Start reading; text must outlive r. */
void attr_reader_init(struct attr_reader *r, const char *text, size_t len);

/* Read the next attr; on ATTR_BAD r->in.why holds the reason, with the line number. */
enum attr_read attr_reader_next(struct attr_reader *r, struct attr_text *out);

/* Read an attr from its bytes, of any length. */
bool attr_text_bytes(struct text_cursor *c, const uint8_t *bytes, size_t len,
		     struct attr_text *out);

/* Convert an attr that was read from bytes of the other byte order; leave one of text as it is. */
void attr_text_swap(struct attr_text *a);

/* Append what of the text is not in the attr, and what the kernel does not read; false: nothing. */
bool attr_text_doubts(const struct attr_text *a, struct buf *out);

/* Add the attr to a call as memory captured at addr, for attr_emit(). */
void attr_text_capture(const struct attr_text *a, struct call *c, uint64_t addr);
