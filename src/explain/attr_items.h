/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An attr as a list of items: members that are explained together.  Attrs are compared
 * by their items, so that what two events share is written once.
 */
#pragma once

#include "explain/prose.h"
#include "formats/text/open_attr.h"

enum attr_item_kind {
	ITEM_RATE, ITEM_SAMPLE, ITEM_READ, ITEM_START, ITEM_WAKEUP, ITEM_EXCLUDE, ITEM_RECORDS,
	ITEM_MEMBER,	/* any other member */
};

/* An item is all that its sentence depends on: equal items have equal sentences. */
struct attr_item {
	enum attr_item_kind kind;
	unsigned int member;	/* of ITEM_MEMBER */
	uint64_t facts[4];
};

enum { ATTR_ITEMS = 96 };	/* more than an attr has members */

/* List the items of an attr, all but type and config; return how many there are. */
size_t attr_items(const struct open_attr *a, struct attr_item out[ATTR_ITEMS]);

bool attr_item_same(const struct attr_item *x, const struct attr_item *y);

/* How much is written: names of bits; their meanings; also the text of terms.in. */
enum item_style { ITEM_SHORT, ITEM_FULL, ITEM_DEEP };

void attr_item_write(const struct attr_item *item, const struct open_attr *a,
		     enum item_style style, struct prose *p);

/* Write all items of an attr. */
void attr_items_write(const struct open_attr *a, enum item_style style, struct prose *p);

/* Write the names of the members that b sets and a does not; return how many. */
size_t attr_items_unset(const struct open_attr *a, const struct open_attr *b, struct prose *p);
