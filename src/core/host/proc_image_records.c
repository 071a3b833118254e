// SPDX-License-Identifier: LGPL-2.1-or-later
/* Records of what existed before, which perf record synthesizes if attrs request such records. */
#include "core/host/proc_image.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/abi/layout.h"
#include "core/host/cgroup.h"
#include "core/lib/die.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

enum { RECORDS_MOST = 1 << 20 }; /* bytes */

/* Append a record's fixed part, zeroed, and return it: valid until more is appended. */
static uint8_t *records_begin(struct buf *b, uint32_t type, size_t fixed, size_t size)
{
	const struct field *f = layout_perf_event_header.fields;
	uint8_t *bytes;

	buf_reserve(b, size);
	bytes = (uint8_t *)b->data + b->len;
	memset(bytes, 0, size);
	b->len += fixed;
	field_set(&f[PERF_EVENT_HEADER_TYPE], type, bytes);
	field_set(&f[PERF_EVENT_HEADER_SIZE], size, bytes);
	return bytes;
}

static void records_add_namespaces(struct buf *b, pid_t pid, const struct proc_image_thread *t)
{
	static const char *const names[NR_NAMESPACES] = {
		[NET_NS_INDEX] = "net", [UTS_NS_INDEX] = "uts",	  [IPC_NS_INDEX] = "ipc",
		[PID_NS_INDEX] = "pid", [USER_NS_INDEX] = "user", [MNT_NS_INDEX] = "mnt",
		[CGROUP_NS_INDEX] = "cgroup",
	};
	const struct layout *l = &layout_perf_record_namespaces, *link = &layout_perf_ns_link_info;
	uint8_t *bytes = records_begin(b, PERF_RECORD_NAMESPACES, l->size,
				       l->size + NR_NAMESPACES * link->size);

	field_set(&l->fields[PERF_RECORD_NAMESPACES_PID], (uint32_t)pid, bytes);
	field_set(&l->fields[PERF_RECORD_NAMESPACES_TID], (uint32_t)t->tid, bytes);
	field_set(&l->fields[PERF_RECORD_NAMESPACES_NR_NAMESPACES], NR_NAMESPACES, bytes);
	bytes += l->size;
	for (size_t i = 0; i < NR_NAMESPACES; i++, bytes += link->size) {
		char path[40];
		struct stat st;

		snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)t->here, names[i]);
		if (stat(path, &st))
			continue;
		field_set(&link->fields[PERF_NS_LINK_INFO_DEV], st.st_dev, bytes);
		field_set(&link->fields[PERF_NS_LINK_INFO_INO], st.st_ino, bytes);
	}
	b->len += NR_NAMESPACES * link->size;
}

void proc_image_add_namespaces(struct proc_image *p)
{
	for (size_t i = 0; i < p->nthreads && p->records.len < RECORDS_MOST; i++)
		records_add_namespaces(&p->records, p->pid, &p->threads[i]);
}

/* Return the id of a cgroup, which its file handle is, or 0. */
static uint64_t records_cgroup_id(const char *path)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + sizeof(uint64_t)];
	} u = { .handle.handle_bytes = sizeof(uint64_t) };
	uint64_t id;
	int mount;

	if (name_to_handle_at(AT_FDCWD, path, &u.handle, &mount, 0))
		return 0;
	memcpy(&id, u.handle.f_handle, sizeof(id));
	return id;
}

/* Append the cgroup at path, whose name begins behind the mount, and those below it. */
static void records_add_cgroups(struct buf *b, char *path, size_t mount)
{
	const struct layout *l = &layout_perf_record_cgroup;
	size_t len = strlen(path);
	const char *name = len > mount ? path + mount : "/";
	size_t room = (strlen(name) + 8) & ~(size_t)7;
	DIR *dir = opendir(path);
	struct dirent *d;

	field_set(&l->fields[PERF_RECORD_CGROUP_ID], records_cgroup_id(path),
		  records_begin(b, PERF_RECORD_CGROUP, l->size, l->size + room));
	memcpy(b->data + b->len, name, strlen(name));
	b->len += room;
	while (dir && b->len < RECORDS_MOST && (d = readdir(dir))) {
		if (d->d_type != DT_DIR || *d->d_name == '.' ||
		    (size_t)snprintf(path + len, PATH_MAX - len, "/%s", d->d_name) >= PATH_MAX - len)
			continue;
		records_add_cgroups(b, path, mount);
		path[len] = '\0';
	}
	path[len] = '\0';
	if (dir)
		closedir(dir);
}

void proc_image_add_cgroups(struct proc_image *p)
{
	char path[PATH_MAX];

	if (cgroup_mount(path, sizeof(path)))
		records_add_cgroups(&p->records, path, strlen(path));
}
