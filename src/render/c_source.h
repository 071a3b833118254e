/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoded values as C source: names of constants where tables have them, and
 * what a file must include or define so that it knows those.
 */
#ifndef PEVTRACE_RENDER_C_SOURCE_H
#define PEVTRACE_RENDER_C_SOURCE_H

#include "abi/call.h"
#include "abi/sink.h"
#include "lib/buf.h"

/* The release whose headers C source is written for; what is newer is defined. */
#define C_HEADERS KVER(6, 1, 0)

/* What the text needs around it.  Zero-initialised is empty. */
struct c_needs {
	const struct xlat_entry **defines;	/* unknown to those headers */
	size_t ndefines;
	const char **headers;			/* "time.h" */
	size_t nheaders;
};

void c_need_header(struct c_needs *n, const char *header);
void c_needs_free(struct c_needs *n);

/* A string literal with its quotes; nothing in it can end it or be a trigraph. */
void c_string(struct buf *out, const char *bytes, size_t len);

/* Text inside of a comment: one line of ASCII that cannot end the comment. */
void c_comment(struct buf *out, const char *text, size_t len);

/* An identifier made of a name, such as cpu_clock_u of cpu-clock:u. */
void c_identifier(struct buf *out, const char *name);

/*
 * An attr as initializer.  What the headers have no member for, be it bits,
 * members or bytes behind, is left over and has to be put into place by
 * statements: words of 8 bytes.
 */
struct c_attr {
	struct c_member {
		char *line;		/* ".name = value," */
		char *comment;		/* "" for none */
	} *members;
	size_t nmembers;
	const char *string_member[2];
	struct buf string_value[2];
	size_t nstrings;
	uint8_t *rest;		/* size bytes, a multiple of 8 */
	size_t size;		/* at least what the kernel reads */
	struct buf unnamed;	/* "defer_output, ...": members in rest, by name */
};

/* Appends the lines of a member, comment and all where told. */
void c_member_write(struct buf *out, const struct c_member *m, bool comment);

/* The attr that c passed at addr; false where it could not be read. */
bool c_attr_make(struct c_attr *a, const struct call *c, uint64_t addr,
		 const struct names *names, struct c_needs *needs);
void c_attr_free(struct c_attr *a);

/* The call's arguments as C expressions. */
struct c_args {
	struct sink sink;		/* first member */
	struct c_needs *needs;
	const char *object;		/* type of what a pointer points to */
	/* a descriptor of the caller as an expression */
	void (*fd)(void *ctx, const char *key, int64_t fd, struct buf *out);
	void *ctx;
	struct buf text[CALL_MAX_ARGS];
	size_t n;
	unsigned int depth;
	bool any;
};

/* Walks over the arguments of a call that has returned; attrs are left empty. */
void c_args_make(struct c_args *a, const struct call *c, const struct names *names);
void c_args_free(struct c_args *a);

#endif
