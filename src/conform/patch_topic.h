/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The topics of a series: which findings one commit removes. */
#pragma once

#include "conform/compare.h"

/* How the findings of a topic are divided into commits. */
enum patch_topic_by {
	TOPIC_WHOLE,		/* one commit */
	TOPIC_SUBJECT,		/* one for each errno, call or structure */
	TOPIC_TABLE,		/* for each structure, or table of constants */
	TOPIC_TAG,		/* for each tag of a paragraph, or else heading of a section */
};

struct patch_topic {
	const char *kinds;	/* fnmatch(3) patterns of ids, separated by blanks */
	enum patch_topic_by by;
	const char *subject;	/* %s: the errno, table, tag ... of the commit */
	const char *reason;
};

/* In the order of the commits; the last has no kinds. */
extern const struct patch_topic patch_topics[];

/* Return true if one of the patterns, which are separated by blanks, matches id. */
bool patch_topic_matches(const char *kinds, const char *id);

/* Return "/NAME" after the only pattern: the part of a text that the topic is about; or "". */
const char *patch_topic_part(const struct patch_topic *t);

/* Append what names the commit of topic t that removes f, a finding of c. */
void patch_topic_key(const struct patch_topic *t, const struct conform *c,
		     const struct finding *f, struct buf *out);
