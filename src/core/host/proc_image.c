// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/host/proc_image.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/host/proc.h"
#include "core/lib/die.h"

enum { THREADS_MAX = 1 << 16 };

struct proc_image_thread *proc_image_add_thread(struct proc_image *p, pid_t tid, const char *comm)
{
	struct proc_image_thread *t;

	p->threads = xrealloc(p->threads, (p->nthreads + 1) * sizeof(*p->threads));
	t = &p->threads[p->nthreads++];
	*t = (struct proc_image_thread){ .tid = tid };
	snprintf(t->comm, sizeof(t->comm), "%.15s", comm);
	return t;
}

struct proc_image_map *proc_image_add_map(struct proc_image *p, const char *path)
{
	struct proc_image_map *m;

	p->maps = xrealloc(p->maps, (p->nmaps + 1) * sizeof(*p->maps));
	m = &p->maps[p->nmaps++];
	*m = (struct proc_image_map){ .path = xstrdup(path) };
	return m;
}

struct proc_image_function *proc_image_add_function(struct proc_image *p, const char *name)
{
	struct proc_image_function *f;

	p->functions = xrealloc(p->functions, (p->nfunctions + 1) * sizeof(*p->functions));
	f = &p->functions[p->nfunctions++];
	*f = (struct proc_image_function){ .name = xstrdup(name) };
	return f;
}

/* Add a line of /proc/PID/maps if it is an executable mapping. */
static void proc_image_add_line(struct proc_image *p, char *line)
{
	unsigned long long start, end, pgoff, inode;
	unsigned int major, minor;
	struct proc_image_map *m;
	char prot[5], *path;
	int at = 0;

	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu%n", &start, &end, prot, &pgoff, &major,
		   &minor, &inode, &at) < 7 || strlen(prot) < 4 || prot[2] != 'x' || start >= end)
		return;
	path = line + at + strspn(line + at, " ");
	path[strcspn(path, "\n")] = '\0';
	m = proc_image_add_map(p, *path ? path : "//anon");
	m->start = start;
	m->end = end;
	m->pgoff = pgoff;
	m->inode = inode;
	m->major = major;
	m->minor = minor;
	m->prot = PROT_EXEC | (prot[0] == 'r' ? PROT_READ : 0) | (prot[1] == 'w' ? PROT_WRITE : 0);
	m->flags = prot[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
}

void proc_image_add_maps(struct proc_image *p, FILE *f)
{
	char *line = NULL;
	size_t size = 0;

	while (p->nmaps < PROC_IMAGE_MAPS && getline(&line, &size, f) > 0)
		proc_image_add_line(p, line);
	free(line);
}

pid_t proc_group_of(pid_t tid, pid_t *parent)
{
	char path[40], line[256];
	int pid = 0, above = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	f = fopen(path, "re");
	while (f && !above && fgets(line, sizeof(line), f))
		if (sscanf(line, "Tgid: %d", &pid) != 1 && sscanf(line, "PPid: %d", &above) == 1)
			break;
	if (f)
		fclose(f);
	if (parent)
		*parent = above;
	return pid;
}

static void proc_image_add_threads(struct proc_image *p, const struct pidns *ns)
{
	char path[40], comm[32];
	struct dirent *d;
	DIR *dir;

	if (proc_comm(p->here, comm, sizeof(comm)))
		proc_image_add_thread(p, p->pid, comm)->here = p->here;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)p->here);
	dir = opendir(path);
	if (!dir)
		return;
	while (p->nthreads < THREADS_MAX && (d = readdir(dir))) {
		pid_t tid = (pid_t)atoi(d->d_name);

		if (tid > 0 && tid != p->here && proc_comm(tid, comm, sizeof(comm)))
			proc_image_add_thread(p, proc_pid_in(ns, tid), comm)->here = tid;
	}
	closedir(dir);
}

bool proc_image_read(pid_t pid, bool maps, const struct pidns *ns, struct proc_image *p)
{
	char path[40];
	pid_t parent;
	FILE *f;

	*p = (struct proc_image){ .pid = proc_pid_in(ns, pid), .here = pid };
	if (!p->pid)
		return false;
	proc_group_of(pid, &parent);
	p->parent = parent ? proc_pid_in(ns, parent) : 0;
	proc_image_add_threads(p, ns);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = maps ? fopen(path, "re") : NULL;
	if (f) {
		proc_image_add_maps(p, f);
		fclose(f);
	}
	if (!p->nthreads)
		proc_image_free(p);
	return p->nthreads;
}

/*
 * Find the addresses of _text, or else _stext, and _etext: perf takes the kernel to lie between
 * them.
 */
static void proc_image_kernel_range(uint64_t *start, uint64_t *end)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	unsigned long long addr;
	char line[256], name[64];
	bool text = false;

	if (!f)
		return;
	while (!*end && fgets(line, sizeof(line), f)) {
		if (!strstr(line, "text") ||
		    sscanf(line, "%llx %*c %63s", &addr, name) != 2)
			continue;
		if (!strcmp(name, "_etext"))
			*end = addr;
		else if (!strcmp(name, "_text") || (!text && !strcmp(name, "_stext")))
			*start = addr;
		text |= !strcmp(name, "_text");
	}
	fclose(f);
}

static void proc_image_add_modules(struct proc_image *p)
{
	FILE *f = fopen("/proc/modules", "re");
	unsigned long long size, addr;
	char line[4096], name[64], path[72];
	struct proc_image_map *m;

	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%63s %llu %*s %*s %*s %llx", name, &size, &addr) != 3 || !addr)
			continue;
		snprintf(path, sizeof(path), "[%s]", name);
		m = proc_image_add_map(p, path);
		m->start = addr;
		m->end = addr + size;
	}
	fclose(f);
}

bool proc_image_read_kernel(struct proc_image *p)
{
	struct proc_image_map *m;
	uint64_t start = 0, end = 0;

	*p = (struct proc_image){ .pid = -1, .here = -1 };
	proc_image_kernel_range(&start, &end);
	if (!start || start >= end)
		return false;
	/* the name says at which symbol it starts, so that perf knows how far it was moved */
	m = proc_image_add_map(p, "[kernel.kallsyms]_text");
	m->start = m->pgoff = start;
	m->end = end;
	proc_image_add_modules(p);
	return true;
}

void proc_image_free(struct proc_image *p)
{
	for (size_t i = 0; i < p->nmaps; i++)
		free(p->maps[i].path);
	for (size_t i = 0; i < p->nfunctions; i++)
		free(p->functions[i].name);
	free(p->maps);
	free(p->threads);
	free(p->functions);
	buf_free(&p->records);
}
