/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How check and why show calls, rules and outcomes: lines of text, or JSON. */
#ifndef PEVTRACE_JUDGE_JUDGE_SHOW_H
#define PEVTRACE_JUDGE_JUDGE_SHOW_H

#include "judge/judge.h"

struct show {
	struct showing *out;
	const struct machine *machine;
	const struct facts *facts;
	const struct judge_call *c;
};

/* Begins the line "  head: ", which showing_end() ends. */
struct buf *show_line(const struct show *s, const char *head);

/* The whole line of a call that ended with that errno, or opened. */
void show_call(const struct show *s, const char *label, const struct call *c, int error);

/* "it opens" or the error. */
void show_outcome(struct buf *out, int error);

/* The same of a call of a dump, and whether it was the kernel that said so. */
void show_seen(struct buf *out, const struct judge_call *c);

/* Lines: since when the rule is checked, what decides it, what that is here. */
void show_rule(const struct show *s, const struct rule_desc *d);

/* A member or argument of a call by its name, with its value there. */
void show_member(const struct show *s, const struct call *c, const char *name, size_t len,
		 struct sink *sink);

/* The attr as the call has it, with its own pointers; no bytes where there is none. */
const uint8_t *show_attr(const struct call *c, size_t *len);

/* The members and arguments that a rule is about. */
void show_fields(const struct show *s, const struct rule_desc *d, struct sink *sink);

/* What one RULE_BY_ is here, in words; false where there is nothing to say. */
bool show_here(const struct show *s, uint64_t by, struct buf *out);

/* Begins the object of a call, with its name, label and arguments. */
struct sink *show_json_begin(const struct show *s);

/* These add to the object that is being filled. */
void show_json_call(const struct show *s, const struct call *c, struct sink *k);
void show_json_outcome(const struct show *s, int error);
void show_json_release(struct sink *k, const char *key, uint32_t release);
void show_json_rule(const struct show *s, const struct rule_desc *d, struct sink *k);

#endif
