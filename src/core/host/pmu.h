/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The PMUs of one machine, as sysfs describes them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/lib/buf.h"
#include "xlat/layouts.h"

/* One file of format/: the bits of one config word that hold a term. */
struct pmu_term {
	char *name;
	unsigned int config;	/* index of the word */
	uint64_t mask;
};

/* One file of events/: the words that it sets. */
struct pmu_alias {
	char *name;
	uint64_t config[ATTR_CONFIGS];
};

/* Its folders, and their names. */
enum pmu_folder { PMU_FORMAT, PMU_EVENTS, PMU_CAPS, PMU_FOLDERS };
extern const char *const pmu_folders[PMU_FOLDERS];

/* One file of caps/. */
struct pmu_cap {
	char *name, *text;
};

struct pmu {
	struct pmu *next;
	char *name;
	uint32_t type;
	struct pmu_term *terms;		/* by name */
	size_t nterms;
	struct pmu_alias *aliases;	/* by name */
	size_t naliases;
	unsigned int unread;		/* 1 << folder: not all of its files could be read */
	struct pmu_cap *caps;		/* in no order */
	size_t ncaps;
	char *cpumask;			/* CPUs for which its events are opened; NULL: no such file */
};

/*
 * Create a PMU, and add what a file of that name and text, which may be modified, says; then sort.  In
 * libpevtrace, return NULL or false if memory is exhausted.
 */
struct pmu *pmu_new(const char *name, uint32_t type);
bool pmu_add_file(struct pmu *p, enum pmu_folder folder, const char *name, char *text);
void pmu_sort(struct pmu *p);

/* Return the name of the i-th file of a folder, and its text in *text; NULL: there are no more. */
const char *pmu_file(const struct pmu *p, enum pmu_folder folder, size_t i, struct buf *text);

/*
 * Read all PMUs below sysfs; return a list, or NULL if there are none or, in libpevtrace, if memory
 * is exhausted.  Set *all if no PMU is missing in it.
 */
struct pmu *pmus_read(const char *sysfs, bool *all);
void pmus_free(struct pmu *list);

/* Return the PMU, format term or alias of that name, or NULL. */
const struct pmu *pmu_find(const struct pmu *list, const char *name, size_t len);
const struct pmu_term *pmu_term(const struct pmu *p, const char *name, size_t len);
const struct pmu_alias *pmu_alias(const struct pmu *p, const char *name, size_t len);

/* Return the largest value that fits the term's bits. */
uint64_t pmu_term_max(const struct pmu_term *t);

/* Set the term, with v truncated to the term's bits. */
void pmu_term_set(const struct pmu_term *t, uint64_t v, uint64_t *config);

/* Append "name/terms/" for these words; see host_terms(). */
void pmu_describe(const struct pmu *p, const uint64_t *config, size_t nconfigs,
		  struct buf *out);
