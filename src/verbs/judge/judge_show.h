/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How check and why show calls, rules and outcomes: lines of text, or JSON. */
#pragma once

#include "verbs/judge/judge.h"

struct show {
	struct showing *out;
	const struct machine *machine;
	const struct facts *facts;
	const struct judge_call *c;
	struct instruments *instruments;
};

/* Begin the line "  head: ", which showing_end() ends. */
struct buf *show_line(const struct show *s, const char *head);

/* Show the line of a call with its result: an errno, or 0 if it opened. */
void show_call(const struct show *s, const char *label, const struct call *c, int error);

/* Append "it opens" or the error. */
void show_outcome(struct buf *out, int error);

/*
 * Show a line, or a JSON member, if the call is for an event of the hardware, and such events open,
 * but do not count on this machine.
 */
void show_doubt(const struct show *s);

/* Append the outcome that a call had in its dump, and whether it was injected. */
void show_seen(struct buf *out, const struct judge_call *c);

/* Show lines on a rule: its first release, what decides it, and the state of that here. */
void show_rule(const struct show *s, const struct rule_desc *d);

/* Write the member or argument of that name with its value in the call. */
void show_member(const struct show *s, const struct call *c, const char *name, size_t len,
		 struct sink *sink);

/* Return the attr as captured, with the pointers of the call; *len is 0 without one. */
const uint8_t *show_attr(const struct call *c, size_t *len);

/* Write the members and arguments that a rule checks. */
void show_fields(const struct show *s, const struct rule_desc *d, struct sink *sink);

/* Append the state here of what one RULE_BY_ bit names; return false if nothing applies. */
bool show_here(const struct show *s, uint64_t by, struct buf *out);

/* Begin the object of a call, with its name, label and arguments. */
struct sink *show_json_begin(const struct show *s);

/* Add to the current object. */
void show_json_call(const struct show *s, const struct call *c, struct sink *k);
void show_json_outcome(const struct show *s, int error);
void show_json_release(struct sink *k, const char *key, uint32_t release);
void show_json_rule(const struct show *s, const struct rule_desc *d, struct sink *k);
