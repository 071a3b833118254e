// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/host/pmu.h"
#include "core/host/sysfile.h"
#include "core/lib/buf.h"
#include "core/lib/clock.h"
#include "core/lib/die.h"
#include "core/lib/scan_text.h"

/* More than the longest format of Linux, which is a few pages. */
enum { MAX_FORMAT = 1 << 20 };

/* Add the tracepoint, if name is one; return false if its id cannot be read or kept. */
static bool read_event(int system_dir, const char *system, const char *name, struct host *h)
{
	char path[300], full[600];
	int64_t id;

	snprintf(path, sizeof(path), "%s/id", name);
	errno = 0;
	if (!sysfile_number(system_dir, path, &id)) {
		/* "enable" and "filter" are files; events that perf cannot have lack an id */
		snprintf(path, sizeof(path), "%s/format", name);
		return errno == ENOTDIR ||
		       (errno == ENOENT && !faccessat(system_dir, path, F_OK, 0));
	}
	snprintf(full, sizeof(full), "%s:%s", system, name);
	return host_add_tracepoint(h, (uint64_t)id, full);
}

/* Where tracefs is sought without /proc. */
#define USUAL_TRACEFS "/sys/kernel/tracing"

struct host {
	const char *sysfs, *tracefs;
	const struct facts *elsewhere; /* of another machine, or NULL */
	char *mounted;		/* tracefs, if found in /proc/self/mounts; owned */
	bool pmus_known;	/* pmus and all_pmus are read */
	bool all_pmus;
	struct pmu *pmus;
	uint64_t rescan_ns;	/* when tracepoints may be scanned again, CLOCK_MONOTONIC */
	struct map tracepoints;	/* id to name */
	bool partial;		/* some tracepoints could not be read */
	struct map formats;	/* id to text; "" for one that cannot be read */
	struct buf terms;
};

struct host *host_new(const char *sysfs, const char *tracefs)
{
	struct host *h = xcalloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->sysfs = sysfs;
	h->tracefs = tracefs;
	return h;
}

void host_free(struct host *h)
{
	if (!h)
		return;
	map_free_values(&h->tracepoints);
	map_free_values(&h->formats);
	pmus_free(h->pmus);
	buf_free(&h->terms);
	free(h->mounted);
	free(h);
}

struct host *host_new_elsewhere(const struct facts *f, struct pmu *pmus, bool all_pmus,
				bool all_tracepoints)
{
	struct host *h = host_new("", NULL);

	if (!h)
		return NULL;
	h->elsewhere = f;
	h->pmus = pmus;
	h->all_pmus = all_pmus;
	h->partial = !all_tracepoints;
	h->pmus_known = true;
	return h;
}

const struct facts *host_elsewhere(const struct host *h)
{
	return h->elsewhere;
}

bool host_add_tracepoint(struct host *h, uint64_t id, const char *name)
{
	char *copy;

	if (map_get(&h->tracepoints, id))
		return true;
	copy = xstrdup(name);
	if (copy && !map_set(&h->tracepoints, id, copy))
		return true;
	free(copy);
	return false;
}

const char *host_sysfs(const struct host *h)
{
	return h->sysfs;
}

const struct pmu *host_pmus(struct host *h)
{
	if (!h->pmus_known) {
		h->pmus = pmus_read(h->sysfs, &h->all_pmus);
		h->pmus_known = true;
	}
	return h->pmus;
}

bool host_has_pmus(struct host *h)
{
	host_pmus(h);
	return h->all_pmus;
}

static const struct pmu *find_pmu(struct host *h, uint32_t type)
{
	const struct pmu *p = host_pmus(h);

	while (p && p->type != type)
		p = p->next;
	return p;
}

const char *host_pmu(struct host *h, uint32_t type)
{
	const struct pmu *p = find_pmu(h, type);

	return p ? p->name : NULL;
}

/* Return where tracefs is: given by the caller or mounted, or NULL. */
static const char *mounted_tracefs(struct host *h)
{
	struct mntent m;
	char line[4096];
	FILE *f;

	if (h->tracefs || h->elsewhere)
		return h->tracefs;
	f = setmntent("/proc/self/mounts", "re");
	while (f && getmntent_r(f, &m, line, sizeof(line))) {
		if (strcmp(m.mnt_type, "tracefs") || sysfile_hidden(m.mnt_dir, TRACEFS_MAGIC))
			continue;
		h->tracefs = h->mounted = xstrdup(m.mnt_dir);
		break;
	}
	if (f)
		endmntent(f);
	if (!h->tracefs && !sysfile_hidden(USUAL_TRACEFS, TRACEFS_MAGIC))
		h->tracefs = USUAL_TRACEFS;
	return h->tracefs;
}

bool host_tracepoint_is_dynamic(struct host *h, const char *name)
{
	static const char *const files[] = { "dynamic_events", "kprobe_events", "uprobe_events" };
	const char *tracefs = mounted_tracefs(h);
	size_t len = strlen(name), system = strcspn(name, ":");
	char path[4096];
	bool found = false;

	for (size_t i = 0; tracefs && i < sizeof(files) / sizeof(*files) && !found; i++) {
		struct lines l;

		snprintf(path, sizeof(path), "%s/%s", tracefs, files[i]);
		for (l = lines_of(path); !found && lines_next(&l);) {
			/* "p:GROUP/NAME ..." */
			const char *at = strchr(l.text, ':');

			found = at && strlen(at) > len && !memcmp(at + 1, name, system) &&
				at[1 + system] == '/' &&
				!strncmp(at + 2 + system, name + system + 1, len - system - 1) &&
				(at[1 + len] == ' ' || !at[1 + len]);
		}
		lines_end(&l);
	}
	return found;
}

static void scan_tracepoints(struct host *h)
{
	const char *tracefs = mounted_tracefs(h), *system, *name;
	char path[4096];
	DIR *d;

	if (!tracefs)
		return;
	h->partial = false;
	snprintf(path, sizeof(path), "%s/events", tracefs);
	d = sysfile_dir(AT_FDCWD, path);
	while (d && (system = sysfile_next(d))) {
		DIR *events = sysfile_dir(dirfd(d), system);
		bool good = events || errno == ENOTDIR, empty = events;

		while (events && (name = sysfile_next(events))) {
			good &= read_event(dirfd(events), system, name, h);
			empty = false;
		}
		if (events)
			closedir(events);
		/* none is empty unless another directory is mounted on it */
		h->partial |= !good || empty;
	}
	if (d)
		closedir(d);
}

/*
 * Scan the tracepoints again, and add those that are new: tracefs or the event may be new.  Spend
 * a twentieth of the time with this at most, as a tracee may use any number of invalid ids.
 */
static void read_tracepoints(struct host *h)
{
	uint64_t start = clock_ns(), end;

	if (start < h->rescan_ns)
		return;
	scan_tracepoints(h);
	end = clock_ns();
	h->rescan_ns = end + 20 * (end - start);
}

const char *host_tracepoint(struct host *h, uint64_t id)
{
	const char *name = map_get(&h->tracepoints, id);

	if (name)
		return name;
	read_tracepoints(h);
	return map_get(&h->tracepoints, id);
}

bool host_has_tracepoints(struct host *h)
{
	if (!h->tracepoints.len)
		read_tracepoints(h);
	return h->tracepoints.len && !h->partial;
}

int64_t host_pmu_type(struct host *h, const char *name)
{
	const struct pmu *p = pmu_find(host_pmus(h), name, strlen(name));

	return p ? (int64_t)p->type : -1;
}

int host_tracepoint_id(struct host *h, const char *name, uint64_t *id)
{
	const char *tracefs = mounted_tracefs(h), *colon = strchr(name, ':');
	char path[4096], text[32];

	for (size_t at = 0; h->elsewhere;) {
		const char *known = host_next_tracepoint(h, &at, id);

		if (!known || !strcmp(known, name))
			return known ? 0 : host_has_tracepoints(h) ? -ENOENT : -ENODEV;
	}
	if (!tracefs)
		return -ENODEV;
	/* reject names with more than one directory, and ".." */
	if (!colon || colon == name || !colon[1] || *name == '.' || colon[1] == '.' ||
	    strchr(name, '/'))
		return -ENOENT;
	snprintf(path, sizeof(path), "%s/events/%.*s/%s/id", tracefs, (int)(colon - name),
		 name, colon + 1);
	errno = EIO;
	if (!sysfile_read(AT_FDCWD, path, text, sizeof(text)))
		return -errno;
	return scan_whole(text, SCAN_DECIMAL, 0, UINT64_MAX, id) ? 0 : -EIO;
}

const char *host_next_tracepoint(struct host *h, size_t *at, uint64_t *id)
{
	const struct map_slot *slot;

	if (!*at)
		read_tracepoints(h);
	slot = map_next(&h->tracepoints, at);
	if (!slot)
		return NULL;
	*id = slot->key;
	return slot->value;
}

const char *host_format(struct host *h, uint64_t id)
{
	const char *name = host_tracepoint(h, id), *colon = name ? strchr(name, ':') : NULL;
	char *text = map_get(&h->formats, id);
	char path[4096], part[4096];
	struct buf read_text = { 0 };
	ssize_t n;
	int fd;

	if (!text && colon && mounted_tracefs(h)) {
		snprintf(path, sizeof(path), "%s/events/%.*s/%s/format", mounted_tracefs(h),
			 (int)(colon - name), name, colon + 1);
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		while (fd >= 0 && read_text.len < MAX_FORMAT &&
		       (n = read(fd, part, sizeof(part))) > 0)
			buf_add(&read_text, part, (size_t)n);
		if (fd >= 0)
			close(fd);
		text = read_text.data ? read_text.data : xstrdup("");
		if (text && map_set(&h->formats, id, text)) {
			free(text);
			text = NULL;
		}
	}
	return text && *text ? text : NULL;
}

const char *host_terms(struct host *h, uint32_t type, const uint64_t *config,
		       size_t nconfigs)
{
	const struct pmu *p = find_pmu(h, type);

	if (!p || !p->nterms)
		return NULL;
	buf_reset(&h->terms);
	pmu_describe(p, config, nconfigs, &h->terms);
	return buf_str(&h->terms);
}
