/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The topics of a series: which findings one commit removes. */
#ifndef PEVTRACE_CONFORM_PATCH_TOPIC_H
#define PEVTRACE_CONFORM_PATCH_TOPIC_H

#include "conform/compare.h"

/* What divides the findings of a topic into commits. */
enum patch_topic_by {
	TOPIC_WHOLE,		/* nothing */
	TOPIC_SUBJECT,		/* the errno, call or structure */
	TOPIC_TABLE,		/* the structure, or the table of a constant */
	TOPIC_TAG,		/* the tag of the paragraph, or the heading of the section */
};

struct patch_topic {
	const char *kinds;	/* fnmatch(3) patterns of ids, separated by blanks */
	enum patch_topic_by by;
	const char *subject;	/* %s: what divides them */
	const char *reason;
};

/* In the order of the commits; the last has no kinds. */
extern const struct patch_topic patch_topics[];

/* Return true if one of the patterns, which are separated by blanks, matches id. */
bool patch_topic_matches(const char *kinds, const char *id);

/* Append what names the commit of topic t that removes f, a finding of c. */
void patch_topic_key(const struct patch_topic *t, const struct conform *c,
		     const struct finding *f, struct buf *out);

#endif
