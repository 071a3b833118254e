// SPDX-License-Identifier: LGPL-2.1-or-later
/* The files that measured processes map. */
#include <stdlib.h>
#include <string.h>

#include "core/abi/tables.h"
#include "core/host/proc.h"
#include "core/host/proc_image.h"
#include "core/lib/die.h"
#include "core/lib/hash.h"
#include "formats/perfdata/measured.h"

struct mapped_files {
	struct view view;
	struct session *session;
	struct map known;	/* hashes of paths and inodes */
	struct mapped_file {
		pid_t pid;	/* of a process that maps it */
		char *path;
	} *files;		/* to be reported */
	size_t n;
	bool kernel;		/* reported */
};

static uint64_t hash_inode(uint64_t major, uint64_t minor, uint64_t inode)
{
	return hash_word(hash_word(hash_word(HASH_START, major), minor), inode);
}

/*
 * opener: whose PID namespace has the process, or 0: ours has it.  inode: a hash of device and inode:
 * another root directory, or a later time, has another file of the same path.
 */
static void mapped_files_add(struct mapped_files *m, pid_t pid, pid_t opener, uint64_t inode,
			     const char *path)
{
	if (path[1] == '/' || (*path != '/' && strcmp(path, BUILD_ID_VDSO)) ||
	    map_set(&m->known, hash_text(inode, path) | 1, m))
		return;
	m->files = xrealloc(m->files, (m->n + 1) * sizeof(*m->files));
	pid = opener ? proc_pid_here(opener, pid, 0) : pid;
	m->files[m->n++] = (struct mapped_file){ pid, xstrdup(path) };
}

static void mapped_files_on_measured(struct view *v, const struct activity *a)
{
	const struct proc_image *p = &a->measured.image;

	for_each(map, p->maps, p->nmaps)
		mapped_files_add(view_self(v), p->here, 0,
				 hash_inode(map->major, map->minor, map->inode), map->path);
}

static void mapped_files_on_record(struct view *v, const struct activity *a)
{
	const struct layout *l = &layout_perf_record_mmap2_inode;
	const struct activity_record *r = &a->record;
	uint64_t inode = HASH_START;
	struct record_id id;
	size_t at;
	pid_t pid;

	if (!record_identify(r->bytes, r->len, r->format, &id) ||
	    (id.type != PERF_RECORD_MMAP && id.type != PERF_RECORD_MMAP2))
		return;
	at = id.type == PERF_RECORD_MMAP ? layout_perf_record_mmap.size
					 : layout_perf_record_mmap2.size;
	if (r->len <= at || !memchr(r->bytes + at, '\0', r->len - at))
		return;
	pid = (pid_t)layout_get(&layout_perf_record_mmap, PERF_RECORD_MMAP_PID, r->bytes, r->len);
	if (id.type == PERF_RECORD_MMAP2)
		inode = hash_inode(layout_get(l, PERF_RECORD_MMAP2_INODE_MAJ, r->bytes, r->len),
				   layout_get(l, PERF_RECORD_MMAP2_INODE_MIN, r->bytes, r->len),
				   layout_get(l, PERF_RECORD_MMAP2_INODE_INO, r->bytes, r->len));
	mapped_files_add(view_self(v), pid, r->event->opener, inode,
			 (const char *)r->bytes + at);
}

void mapped_files_report(struct view *v)
{
	struct mapped_files *m = view_self(v);
	uint8_t id[BUILD_ID_BYTES];

	if (m->n && !m->kernel)
		session_feed(m->session, &(struct activity){
			ACTIVITY_BUILD_ID,
			.build_id = { BUILD_ID_KERNEL, id, build_id_of_kernel(id) },
		});
	m->kernel |= m->n;
	for (size_t i = 0; i < m->n; i++) {
		char *path = m->files[i].path;

		session_feed(m->session, &(struct activity){
			ACTIVITY_BUILD_ID, .build_id = {
				path, id, *path == '/' ?
					build_id_of_file(m->files[i].pid, path, id) :
					build_id_of_vdso(id),
			},
		});
		free(path);
	}
	m->n = 0;
}

static void mapped_files_on_idle(struct view *v, uint64_t ns)
{
	(void)ns;
	mapped_files_report(v);
}

static void mapped_files_on_free(struct view *v)
{
	struct mapped_files *m = view_self(v);

	while (m->n)
		free(m->files[--m->n].path);
	free(m->files);
	map_free(&m->known);
	free(m);
}

static const struct view_ops ops = {
	.on[ACTIVITY_MEASURED] = mapped_files_on_measured,
	.on[ACTIVITY_RECORD] = mapped_files_on_record,
	.idle = mapped_files_on_idle,
	.free = mapped_files_on_free,
};

struct view *mapped_files_new(struct session *s)
{
	struct mapped_files *m = xcalloc(1, sizeof(*m));

	m->view.ops = &ops;
	m->session = s;
	return &m->view;
}
