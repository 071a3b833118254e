// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/symbols.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "host/maps.h"
#include "host/symtab.h"
#include "lib/buf.h"
#include "lib/die.h"
#include "lib/map.h"

enum { MAX_SPACES = 1024, MAX_FILES = 64, MAX_SHOWN = 1024 };

/* Bytes of names kept; a file that needs more by itself is kept alone. */
static const size_t max_text = 256 << 20;

/* mapping.file of what cannot be opened */
static const uint64_t no_file = UINT64_MAX;

/* The address space of one process. */
struct space {
	struct maps maps;
	time_t looked;		/* CLOCK_MONOTONIC seconds; 0: never */
	uint64_t used;
};

struct file {
	uint64_t id;		/* what mapping.file says; 0: free */
	uint64_t used;
	struct stat st;		/* which file, in which state */
	struct symtab symbols;
};

struct symbols {
	const char *proc;
	bool kernel_known;
	struct symtab kernel;
	struct map spaces;	/* pid to struct space */
	struct file files[MAX_FILES];
	uint64_t last_id;
	uint64_t clock;		/* counts uses, to find the oldest */
	struct buf text;
};

struct symbols *symbols_new(const char *proc)
{
	struct symbols *y = xcalloc(1, sizeof(*y));

	y->proc = proc ? proc : "/proc";
	return y;
}

static void free_space(struct space *space)
{
	if (!space)
		return;
	maps_free(&space->maps);
	free(space);
}

void symbols_free(struct symbols *y)
{
	struct map_slot *slot;
	size_t at = 0;

	if (!y)
		return;
	while ((slot = map_next(&y->spaces, &at)))
		free_space(slot->value);
	map_free(&y->spaces);
	for (size_t i = 0; i < MAX_FILES; i++)
		symtab_free(&y->files[i].symbols);
	symtab_free(&y->kernel);
	buf_free(&y->text);
	free(y);
}

void symbols_forget(struct symbols *y, pid_t pid)
{
	free_space(map_del(&y->spaces, (uint64_t)pid));
}

static void forget_oldest(struct symbols *y)
{
	struct map_slot *slot;
	uint64_t oldest = UINT64_MAX;
	pid_t pid = -1;
	size_t at = 0;

	while ((slot = map_next(&y->spaces, &at))) {
		const struct space *space = slot->value;

		if (space->used >= oldest)
			continue;
		oldest = space->used;
		pid = (pid_t)slot->key;
	}
	symbols_forget(y, pid);
}

static struct space *space_of(struct symbols *y, pid_t pid)
{
	struct space *space = map_get(&y->spaces, (uint64_t)pid);

	if (!space) {
		if (y->spaces.len >= MAX_SPACES)
			forget_oldest(y);
		space = xcalloc(1, sizeof(*space));
		map_set(&y->spaces, (uint64_t)pid, space);
	}
	space->used = ++y->clock;
	return space;
}

static time_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/*
 * What is not mapped any more stays until something takes its place: samples
 * are decoded later than they are taken.
 */
static void read_maps(struct symbols *y, struct space *space, pid_t pid)
{
	struct buf path = { 0 };
	FILE *f;

	space->looked = seconds();
	buf_addf(&path, "%s/%d/maps", y->proc, (int)pid);
	f = fopen(buf_str(&path), "re");
	buf_free(&path);
	if (!f)
		return;
	maps_read(&space->maps, f);
	fclose(f);
}

void symbols_look(struct symbols *y, pid_t pid)
{
	if (pid > 0)
		read_maps(y, space_of(y, pid), pid);
}

void symbols_map(struct symbols *y, pid_t pid, uint64_t start, uint64_t len,
		 uint64_t pgoff, const char *path)
{
	if (pid > 0 && len <= UINT64_MAX - start)
		maps_add(&space_of(y, pid)->maps, start, start + len, pgoff,
			 path);
}

void symbols_fork(struct symbols *y, pid_t parent, pid_t child)
{
	const struct space *from = map_get(&y->spaces, (uint64_t)parent);
	struct maps copy = { 0 };

	/* a thread shares what its process has */
	if (!from || parent == child || child <= 0)
		return;
	maps_copy(&copy, &from->maps);
	symbols_forget(y, child);
	space_of(y, child)->maps = copy;
}

static struct mapping *find_mapping(struct symbols *y, pid_t pid, uint64_t ip)
{
	struct space *space = space_of(y, pid);
	struct mapping *m = maps_find(&space->maps, ip);

	if (m || (space->looked && space->looked == seconds()))
		return m;
	read_maps(y, space, pid);
	return maps_find(&space->maps, ip);
}

/*
 * Regular files only: to open a pipe can take forever, and to open a device
 * (a watchdog, a tape) is to use it.  So it is looked at first.
 */
static int open_regular(const char *path)
{
	int fd = -1, place = open(path, O_PATH | O_CLOEXEC);
	char link[64];
	struct stat st;

	if (place < 0)
		return -1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
	if (!fstat(place, &st) && S_ISREG(st.st_mode))
		fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	close(place);
	return fd;
}

/*
 * As the process sees it, which may be in a container; then as we do, for one
 * that has exited; then the mapping itself, for a file that has been deleted.
 */
static int open_mapped(const struct symbols *y, pid_t pid,
		       const struct mapping *m)
{
	struct buf path = { 0 };
	int fd;

	buf_addf(&path, "%s/%d/root%s", y->proc, (int)pid, m->path);
	fd = open_regular(buf_str(&path));
	if (fd < 0)
		fd = open_regular(m->path);
	if (fd < 0) {
		buf_reset(&path);
		buf_addf(&path, "%s/%d/map_files/%" PRIx64 "-%" PRIx64, y->proc,
			 (int)pid, m->start, m->end);
		fd = open_regular(buf_str(&path));
	}
	buf_free(&path);
	return fd;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	       a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* The place of the file when it is known, else the one longest unused. */
static struct file *place_of(struct symbols *y, const struct stat *st)
{
	struct file *oldest = &y->files[0];

	for (size_t i = 0; i < MAX_FILES; i++) {
		struct file *f = &y->files[i];

		if (f->id && same_file(&f->st, st))
			return f;
		if (f->used < oldest->used)
			oldest = f;
	}
	symtab_free(&oldest->symbols);
	oldest->id = 0;
	return oldest;
}

/* Gives the longest unused files up until the rest is of a decent size. */
static void limit_text(struct symbols *y, const struct file *keep)
{
	struct file *oldest;
	size_t sum;

	do {
		sum = 0;
		oldest = NULL;
		for (size_t i = 0; i < MAX_FILES; i++) {
			struct file *f = &y->files[i];

			sum += f->symbols.text.len;
			if (f->id && f != keep &&
			    (!oldest || f->used < oldest->used))
				oldest = f;
		}
		if (sum > max_text && oldest) {
			symtab_free(&oldest->symbols);
			oldest->id = oldest->used = 0;
		}
	} while (sum > max_text && oldest);
}

static struct file *read_file(struct symbols *y, int fd)
{
	struct file *f;
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return NULL;
	f = place_of(y, &st);
	if (!f->id) {
		f->id = ++y->last_id;
		f->st = st;
		symtab_read_elf(&f->symbols, fd);
		limit_text(y, f);
	}
	return f;
}

static struct file *file_of(struct symbols *y, pid_t pid, struct mapping *m)
{
	struct file *f = NULL;
	int fd;

	if (m->file == no_file || m->path[0] != '/')
		return NULL;
	for (size_t i = 0; m->file && i < MAX_FILES; i++)
		if (y->files[i].id == m->file)
			f = &y->files[i];
	if (!f) {
		fd = open_mapped(y, pid, m);
		f = fd < 0 ? NULL : read_file(y, fd);
		if (fd >= 0)
			close(fd);
	}
	m->file = f ? f->id : no_file;
	if (f)
		f->used = ++y->clock;
	return f;
}

/* Names come from files that anyone may have written. */
static void put_word(struct buf *b, const char *word)
{
	size_t shown = 0;

	for (; *word && shown < MAX_SHOWN; word++, shown++) {
		unsigned char c = (unsigned char)*word;

		if (c < 0x20 || c >= 0x7f)
			buf_addf(b, "\\%03o", c);
		else
			buf_addc(b, (char)c);
	}
	if (*word)
		buf_adds(b, "...");
}

static const char *put_name(struct symbols *y, const struct symtab *t,
			    const struct symtab_entry *e, uint64_t addr,
			    const char *module)
{
	buf_reset(&y->text);
	put_word(&y->text, symtab_name(t, e));
	buf_addf(&y->text, "+0x%" PRIx64 " (", addr - e->addr);
	put_word(&y->text, module);
	buf_addc(&y->text, ')');
	return buf_str(&y->text);
}

static const char *name_kernel(struct symbols *y, uint64_t ip)
{
	const struct symtab_entry *e;
	const char *module;
	struct buf path = { 0 };

	if (!y->kernel_known) {
		buf_addf(&path, "%s/kallsyms", y->proc);
		symtab_read_kallsyms(&y->kernel, buf_str(&path));
		buf_free(&path);
		y->kernel_known = true;
	}
	e = symtab_find(&y->kernel, ip);
	if (!e)
		return NULL;
	module = symtab_module(&y->kernel, e);
	return put_name(y, &y->kernel, e, ip, module ? module : "kernel");
}

static const char *base_name(const char *path)
{
	const char *slash = path[0] == '/' ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

static const char *name_user(struct symbols *y, pid_t pid, uint64_t ip)
{
	struct mapping *m = find_mapping(y, pid, ip);
	const struct symtab_entry *e = NULL;
	uint64_t offset, addr;
	struct file *f;

	if (!m || !m->path[0])
		return NULL;
	offset = ip - m->start + m->pgoff;
	f = file_of(y, pid, m);
	if (f && symtab_addr_of(&f->symbols, offset, &addr))
		e = symtab_find(&f->symbols, addr);
	if (e)
		return put_name(y, &f->symbols, e, addr, base_name(m->path));
	buf_reset(&y->text);
	put_word(&y->text, base_name(m->path));
	buf_addf(&y->text, "+0x%" PRIx64, offset);
	return buf_str(&y->text);
}

const char *symbols_name(struct symbols *y, pid_t pid, uint64_t ip, bool kernel)
{
	if (kernel)
		return name_kernel(y, ip);
	return pid > 0 ? name_user(y, pid, ip) : NULL;
}
