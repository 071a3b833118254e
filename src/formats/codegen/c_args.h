/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A call's arguments as C source. */
#pragma once

#include "core/abi/call.h"
#include "core/abi/sink.h"
#include "formats/codegen/c_source.h"

/* A sink that writes the arguments of a call as C expressions. */
struct c_args {
	struct sink sink;		/* first member */
	struct c_needs *needs;
	const char *object;		/* struct that a pointer argument points to */
	/* writes a descriptor of the caller as an expression */
	void (*fd)(void *ctx, const char *key, int64_t fd, struct buf *out);
	void *ctx;
	struct buf text[CALL_MAX_ARGS];
	size_t n;
	unsigned int depth;
	bool any;
};

/* Fill in text for a call that has returned.  Attrs are left empty. */
void c_args_make(struct c_args *a, const struct call *c, const struct names *names);
void c_args_free(struct c_args *a);
