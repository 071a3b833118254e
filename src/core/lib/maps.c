// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/lib/maps.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"

/* The default of vm.max_map_count is 65530; few of them are code. */
enum { MAX_MAPPINGS = 1 << 16 };

/* Return the index of the first mapping that ends after addr. */
static size_t position(const struct maps *m, uint64_t addr)
{
	size_t low = 0, high = m->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (m->list[middle].end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void insert(struct maps *m, size_t at, struct mapping mapping)
{
	if (m->n == m->cap) {
		m->cap = m->cap ? 2 * m->cap : 16;
		m->list = xrealloc(m->list, m->cap * sizeof(*m->list));
	}
	memmove(&m->list[at + 1], &m->list[at], (m->n - at) * sizeof(*m->list));
	m->list[at] = mapping;
	m->n++;
}

static void drop(struct maps *m, size_t at, size_t n)
{
	if (!n)
		return;
	for (size_t i = at; i < at + n; i++)
		free(m->list[i].path);
	m->n -= n;
	memmove(&m->list[at], &m->list[at + n], (m->n - at) * sizeof(*m->list));
}

static void cut_front(struct mapping *m, uint64_t start)
{
	m->pgoff += start - m->start;
	m->start = start;
}

void maps_add(struct maps *m, uint64_t start, uint64_t end, uint64_t pgoff,
	      const char *path)
{
	struct mapping mapping = { start, end, pgoff, 0, NULL };
	const struct mapping *known;
	size_t at = position(m, start), n = 0;

	if (start >= end || m->n >= MAX_MAPPINGS)
		return;
	known = maps_find(m, start);
	if (known && known->start == start && known->end == end && known->pgoff == pgoff &&
	    !strcmp(known->path, path))
		return;
	mapping.path = xstrdup(path);
	if (at < m->n && m->list[at].start < start) {
		if (m->list[at].end > end) {
			struct mapping behind = m->list[at];

			behind.path = xstrdup(behind.path);
			cut_front(&behind, end);
			insert(m, at + 1, behind);
		}
		m->list[at++].end = start;
	}
	while (at + n < m->n && m->list[at + n].end <= end)
		n++;
	drop(m, at, n);
	if (at < m->n && m->list[at].start < end)
		cut_front(&m->list[at], end);
	insert(m, at, mapping);
}

struct mapping *maps_find(const struct maps *m, uint64_t addr)
{
	size_t at = position(m, addr);

	return at < m->n && m->list[at].start <= addr ? &m->list[at] : NULL;
}

void maps_read(struct maps *m, FILE *f)
{
	char *line = NULL, rights[8];
	size_t size = 0;

	while (getline(&line, &size, f) > 0) {
		uint64_t start, end, pgoff;
		int at = 0;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64
			   " %*s %*s %n", &start, &end, rights, &pgoff, &at) == 4 &&
		    at && strlen(rights) > 2 && rights[2] == 'x')
			maps_add(m, start, end, pgoff, line + at);
	}
	free(line);
}

void maps_copy(struct maps *to, const struct maps *from)
{
	for_each(m, from->list, from->n) {
		struct mapping *copy;

		maps_add(to, m->start, m->end, m->pgoff, m->path);
		copy = maps_find(to, m->start);
		if (copy)
			copy->file = m->file;
	}
}

void maps_free(struct maps *m)
{
	drop(m, 0, m->n);
	free(m->list);
	*m = (struct maps){ 0 };
}
