// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/host/pmu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/host/sysfile.h"
#include "core/lib/die.h"
#include "core/lib/scan_text.h"

/* Return the index of the word "config", "config1" ..., and what follows it. */
static int parse_word(const char *text, const char **rest)
{
	uint64_t i = 0;

	if (strncmp(text, "config", 6))
		return -1;
	*rest = text + 6;
	if (scan_is_digit(**rest) && !scan_number(rest, NULL, SCAN_DECIMAL, &i))
		return -1;
	return i < ATTR_CONFIGS ? (int)i : -1;
}

/* Parse the bits of a term in one word: "config:0-7,32-35". */
static bool parse_format(const char *text, struct pmu_term *t)
{
	uint64_t first, last;
	const char *p;
	int word = parse_word(text, &p);

	if (word < 0 || *p++ != ':')
		return false;
	t->config = (unsigned int)word;
	while (*p) {
		if (!scan_range(&p, &first, &last) || last > 63)
			return false;
		t->mask |= (~0ULL >> (63 - (last - first))) << first;
	}
	return t->mask;
}

static uint64_t gather(uint64_t word, uint64_t mask)
{
	uint64_t out = 0;
	unsigned int n = 0;

	for (unsigned int bit = 0; bit < 64; bit++)
		if (mask >> bit & 1)
			out |= (word >> bit & 1) << n++;
	return out;
}

uint64_t pmu_term_max(const struct pmu_term *t)
{
	return gather(~0ULL, t->mask);
}

void pmu_term_set(const struct pmu_term *t, uint64_t v, uint64_t *config)
{
	uint64_t *word = &config[t->config];

	*word &= ~t->mask;
	for (unsigned int bit = 0; bit < 64; bit++) {
		if (!(t->mask >> bit & 1))
			continue;
		*word |= (v & 1) << bit;
		v >>= 1;
	}
}

static bool is_called(const char *name, const char *word, size_t len)
{
	return strlen(name) == len && !memcmp(name, word, len);
}

const struct pmu *pmu_find(const struct pmu *list, const char *name, size_t len)
{
	while (list && !is_called(list->name, name, len))
		list = list->next;
	return list;
}

const struct pmu_term *pmu_term(const struct pmu *p, const char *name, size_t len)
{
	for (size_t i = 0; i < p->nterms; i++)
		if (is_called(p->terms[i].name, name, len))
			return &p->terms[i];
	return NULL;
}

const struct pmu_alias *pmu_alias(const struct pmu *p, const char *name, size_t len)
{
	for (size_t i = 0; i < p->naliases; i++)
		if (is_called(p->aliases[i].name, name, len))
			return &p->aliases[i];
	return NULL;
}

static int by_name(const void *a, const void *b)
{
	/* struct pmu_term and struct pmu_alias both start with their name */
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Add the bits of a term.  Return false if memory is exhausted (in libpevtrace), as all below. */
static bool add_term(struct pmu *p, const char *name, const char *text)
{
	struct pmu_term t = { 0 }, *more;

	if (!parse_format(text, &t))
		return true;
	more = xrealloc(p->terms, (p->nterms + 1) * sizeof(*more));
	p->terms = more ? more : p->terms;
	t.name = more ? xstrdup(name) : NULL;
	if (!t.name)
		return false;
	more[p->nterms++] = t;
	return true;
}

/* Append the bits of a term as its file has them: "config:0-7,32-35". */
static void term_text(const struct pmu_term *t, struct buf *out)
{
	const char *sep = ":";

	buf_adds(out, "config");
	if (t->config)
		buf_addf(out, "%u", t->config);
	for (unsigned int first = 0, last; first < 64; first = last + 1) {
		for (last = first; t->mask >> first & 1 && last < 63 && t->mask >> (last + 1) & 1;)
			last++;
		if (t->mask >> first & 1)
			buf_addf(out, first == last ? "%s%u" : "%s%u-%u", sep, first, last);
		sep = t->mask >> first & 1 ? "," : sep;
	}
}

/* Parse "event=0x3c,umask=0x1" or "config=0x7"; a bare "edge" is edge=1. */
static bool parse_alias(const struct pmu *p, char *text, struct pmu_alias *a)
{
	char *save;

	for (char *term = strtok_r(text, ",", &save); term;
	     term = strtok_r(NULL, ",", &save)) {
		char *value = strchr(term, '=');
		const struct pmu_term *known;
		uint64_t v = 1;
		const char *rest;
		int word;

		if (value) {
			*value++ = '\0';
			if (!scan_whole(value, SCAN_C, 0, UINT64_MAX, &v))
				return false; /* "?": the user must supply it */
		}
		known = pmu_term(p, term, strlen(term));
		if (known) {
			pmu_term_set(known, v, a->config);
			continue;
		}
		word = parse_word(term, &rest);
		if (word < 0 || *rest)
			return false;
		a->config[word] |= v;
	}
	return true;
}

static bool add_alias(struct pmu *p, const char *name, char *text)
{
	struct pmu_alias a = { 0 }, *more;

	if (!*text || !parse_alias(p, text, &a)) {
		p->unread |= 1U << PMU_EVENTS;
		return true;
	}
	more = xrealloc(p->aliases, (p->naliases + 1) * sizeof(*more));
	p->aliases = more ? more : p->aliases;
	a.name = more ? xstrdup(name) : NULL;
	if (!a.name)
		return false;
	more[p->naliases++] = a;
	return true;
}

static bool add_cap(struct pmu *p, const char *name, const char *text)
{
	struct pmu_cap *more = xrealloc(p->caps, (p->ncaps + 1) * sizeof(*more));

	if (!more)
		return false;
	p->caps = more;
	more[p->ncaps] = (struct pmu_cap){ xstrdup(name), xstrdup(text) };
	p->ncaps++;
	return more[p->ncaps - 1].name && more[p->ncaps - 1].text;
}

const char *const pmu_folders[PMU_FOLDERS] = { "format", "events", "caps" };

bool pmu_add_file(struct pmu *p, enum pmu_folder folder, const char *name, char *text)
{
	return folder == PMU_FORMAT ? add_term(p, name, text) :
	       folder == PMU_EVENTS ? add_alias(p, name, text) : add_cap(p, name, text);
}

const char *pmu_file(const struct pmu *p, enum pmu_folder folder, size_t i, struct buf *text)
{
	const size_t n[] = { p->nterms, p->naliases, p->ncaps };

	buf_reset(text);
	if (i >= n[folder])
		return NULL;
	if (folder == PMU_FORMAT)
		term_text(&p->terms[i], text);
	else if (folder == PMU_CAPS)
		buf_adds(text, p->caps[i].text);
	for (unsigned int c = 0; c < ATTR_CONFIGS && folder == PMU_EVENTS; c++)
		if (!c || p->aliases[i].config[c])
			buf_addf(text, "%sconfig%s=0x%llx", c ? "," : "", c ? (char[]){ (char)('0' + c), 0 } : "",
				 (unsigned long long)p->aliases[i].config[c]);
	return folder == PMU_FORMAT ? p->terms[i].name : folder == PMU_EVENTS ? p->aliases[i].name :
	       p->caps[i].name;
}

void pmu_sort(struct pmu *p)
{
	if (p->nterms)
		qsort(p->terms, p->nterms, sizeof(*p->terms), by_name);
	if (p->naliases)
		qsort(p->aliases, p->naliases, sizeof(*p->aliases), by_name);
}

/* Read the files of a folder. */
static bool read_folder(struct pmu *p, int pmu_dir, enum pmu_folder folder)
{
	DIR *d = sysfile_dir(pmu_dir, pmu_folders[folder]);
	const char *name;
	bool good = true;
	char text[512];

	p->unread |= (unsigned int)(!d && errno != ENOENT) << folder;
	while (d && good && (name = sysfile_next(d))) {
		/* tsc.unit, tsc.scale and the like describe the event tsc */
		if (folder == PMU_EVENTS && strchr(name, '.'))
			continue;
		if (sysfile_read(dirfd(d), name, text, sizeof(text)))
			good = pmu_add_file(p, folder, name, text);
		else
			p->unread |= 1U << folder;
	}
	if (d)
		closedir(d);
	return good;
}

/* Read the PMU whose directory is open; return NULL if memory is exhausted. */
static struct pmu *pmu_read(const char *name, uint32_t type, int dir)
{
	struct pmu *p = pmu_new(name, type);
	char text[4096];
	bool good = p;

	for (enum pmu_folder i = 0; good && i < PMU_FOLDERS; i++)
		good = read_folder(p, dir, i);
	if (good && (sysfile_read(dir, "cpumask", text, sizeof(text)) ||
		     sysfile_read(dir, "cpus", text, sizeof(text))))
		good = (p->cpumask = xstrdup(text));
	if (good)
		pmu_sort(p);
	else
		pmus_free(p);
	return good ? p : NULL;
}

struct pmu *pmu_new(const char *name, uint32_t type)
{
	struct pmu *p = xcalloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->type = type;
	p->name = xstrdup(name);
	if (p->name)
		return p;
	free(p);
	return NULL;
}

struct pmu *pmus_read(const char *sysfs, bool *all)
{
	char path[4096];
	struct pmu *list = NULL;
	const char *name;
	bool good = true;
	DIR *d;

	*all = true;
	snprintf(path, sizeof(path), "%s/bus/event_source/devices", sysfs);
	d = sysfile_dir(AT_FDCWD, path);
	while (d && good && (name = sysfile_next(d))) {
		int fd = openat(dirfd(d), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		struct pmu *p;
		int64_t type;

		if (fd >= 0 && sysfile_number(fd, "type", &type)) {
			p = pmu_read(name, (uint32_t)type, fd);
			good = p;
			if (p) {
				p->next = list;
				list = p;
			}
		} else {
			*all = false;
		}
		if (fd >= 0)
			close(fd);
	}
	if (d)
		closedir(d);
	*all &= good && list;
	if (good)
		return list;
	pmus_free(list);
	return NULL;
}

void pmus_free(struct pmu *list)
{
	while (list) {
		struct pmu *next = list->next;

		for (size_t i = 0; i < list->nterms; i++)
			free(list->terms[i].name);
		for (size_t i = 0; i < list->naliases; i++)
			free(list->aliases[i].name);
		for (size_t i = 0; i < list->ncaps; i++) {
			free(list->caps[i].name);
			free(list->caps[i].text);
		}
		free(list->terms);
		free(list->aliases);
		free(list->caps);
		free(list->cpumask);
		free(list->name);
		free(list);
		list = next;
	}
}

void pmu_describe(const struct pmu *p, const uint64_t *config, size_t nconfigs,
		  struct buf *out)
{
	const char *sep = "";

	buf_addf(out, "%s/", p->name);
	for (size_t i = 0; i < p->naliases; i++) {
		bool fits = true;

		/* compare the words that the format uses: others may be pointers */
		for (size_t k = 0; k < p->nterms; k++) {
			unsigned int w = p->terms[k].config;

			fits &= w >= nconfigs || config[w] == p->aliases[i].config[w];
		}
		if (fits) {
			buf_addf(out, "%s/", p->aliases[i].name);
			return;
		}
	}
	for_each(t, p->terms, p->nterms) {
		uint64_t v = t->config < nconfigs ? gather(config[t->config], t->mask) : 0;

		if (!v)
			continue;
		buf_addf(out, "%s%s=0x%llx", sep, t->name, (unsigned long long)v);
		sep = ",";
	}
	buf_addc(out, '/');
}
