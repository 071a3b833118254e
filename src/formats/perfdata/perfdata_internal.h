/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the readers of the parts of a perf.data file only. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"
#include "core/lib/map.h"
#include "formats/perfdata/perfdata.h"

enum {
	RECORD_HEAD = 8,
	RECORD_MOST = UINT16_MAX,
	FORMATS_TRIED = 32,	/* limit of the formats tried on a record */
};

/* A file that is read at offsets that it states itself (perffile.c). */
struct perffile {
	const char *path;
	FILE *copy;		/* all of a pipe, or NULL */
	int fd;
	uint64_t size;
	uint8_t *window;	/* bytes from at on */
	uint64_t at;
	size_t len;
};

struct perfdata {
	struct names names;	/* first: the hooks cast it back */
	struct perffile file;
	const struct names *host; /* NULL if the file is of another machine */
	bool pipe, broken;
	bool swapped;		/* the file has the other byte order */
	uint8_t *record;	/* the current one, converted */
	uint64_t data, data_end;
	struct perfdata_event *events;
	size_t nevents;
	uint64_t nids;		/* of all events */
	struct map by_id;	/* id to index of the event + 1 */
	struct map pmus;	/* type to allocated name */
	uint8_t *desc;		/* HEADER_EVENT_DESC, kept until all events are known */
	size_t desc_len;
	bool same_host, same_release;
	const struct arch *arch;
	const struct perfdata_event *tried[FORMATS_TRIED];
	size_t ntried;
};

/* Open f, which may be a pipe.  Return false after a warn(). */
bool perffile_open(struct perffile *p, FILE *f, const char *path);
void perffile_close(struct perffile *p);

/* Return whether the file contains all of these bytes, for any offset and len. */
bool perffile_has(const struct perffile *p, uint64_t offset, uint64_t len);

/*
 * Return len bytes at offset, at most 1 MiB, valid until the next call; or NULL if the
 * file does not have them all.
 */
const uint8_t *perffile_at(struct perffile *p, uint64_t offset, size_t len);

/* As perffile_at(), for any length; the caller frees the bytes. */
uint8_t *perffile_read(struct perffile *p, uint64_t offset, size_t len);

/* Warn of the first damage only; return false. */
bool perfdata_broken(struct perfdata *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Return an integer of the file. */
uint64_t perfdata_load(const struct perfdata *p, const void *bytes, size_t width);

/* Return the event with that id, or NULL. */
struct perfdata_event *perfdata_event_of(const struct perfdata *p, uint64_t id);

void perfdata_set_name(struct perfdata_event *e, const char *name, size_t len);

/* Read a feature section that names things. */
void perfdata_read_feature(struct perfdata *p, uint64_t id, const uint8_t *bytes,
			   size_t len);

/* Name the events by HEADER_EVENT_DESC, once all events are known. */
void perfdata_read_desc(struct perfdata *p);
