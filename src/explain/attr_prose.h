/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An attr in English: its members, what it measures, what triggers its samples. */
#pragma once

#include "core/abi/layout.h"
#include "explain/prose.h"
#include "formats/text/open_attr.h"

/* Return a walk over the attr's members. */
struct walk attr_prose_walk(const struct open_attr *a);

/* Write a member as a trace shows it: "sample_freq=999". */
void attr_prose_member(const struct open_attr *a, unsigned int index, struct prose *p);

/* Write a condition on a member: "sample_id_all=1". */
void attr_prose_condition(const struct layout *l, const struct cond *c, struct prose *p);

/* Write what the event measures as a clause: "page faults, minor and major". */
void attr_prose_what(const struct open_attr *a, struct prose *p);

/* Write an item that identifies the event: type and config. */
void attr_prose_event(const struct open_attr *a, struct prose *p);

/* What triggers the samples of an event. */
struct attr_trigger {
	enum event_source source;
	bool adaptive;		/* freq=1, and the kernel adjusts the period */
	bool sigtrap;
	bool task;		/* of a clock: it runs with a task */
	uint64_t ns;		/* of a clock: its period */
};

struct attr_trigger attr_trigger_of(const struct open_attr *a);
bool attr_trigger_same(const struct attr_trigger *a, const struct attr_trigger *b);

/* Write sentences about the trigger; the first goes on after a colon. */
void attr_trigger_write(const struct attr_trigger *t, struct prose *p);

/* Return the step that initialises such an event, or that takes its samples; or NULL. */
const char *attr_trigger_init_step(const struct open_attr *a);
const char *attr_trigger_sample_step(const struct open_attr *a);

/*
 * An attr as a list of items: members that are explained together.  Attrs are
 * compared by their items, so that what two events share is written once.
 */
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

/* Write an item; deep: also the text of terms.in. */
void attr_item_write(const struct attr_item *item, const struct open_attr *a, bool deep,
		     struct prose *p);

/* Write the members that ask for records besides samples, unless p is NULL; return how many. */
size_t attr_prose_records(const struct open_attr *a, struct prose *p);

/* Write all items of an attr. */
void attr_items_write(const struct open_attr *a, bool deep, struct prose *p);
