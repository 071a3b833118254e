// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/tables.h"
#include "core/host/proc_image.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/host/cgroup.h"
#include "core/host/sysfile.h"
#include "core/lib/die.h"
#include "core/lib/late.h"

enum { NOTES_MAX = 4096, SEGMENTS_MAX = 512 };

static size_t aligned(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

/* Find the build id in len bytes of ELF notes; return its size, or 0. */
static size_t build_id_in_notes(const uint8_t *notes, size_t len, uint8_t id[BUILD_ID_BYTES])
{
	size_t at = 0;

	while (len - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr n; /* the same in 32-bit files */
		const uint8_t *name = notes + at + sizeof(n), *desc;

		memcpy(&n, notes + at, sizeof(n));
		at += sizeof(n);
		if (n.n_namesz > len - at || aligned(n.n_namesz) > len - at)
			return 0;
		at += aligned(n.n_namesz);
		desc = notes + at;
		if (n.n_descsz > len - at)
			return 0;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU))) {
			size_t size = n.n_descsz < BUILD_ID_BYTES ? n.n_descsz : BUILD_ID_BYTES;

			memcpy(id, desc, size);
			return size;
		}
		if (aligned(n.n_descsz) > len - at)
			return 0;
		at += aligned(n.n_descsz);
	}
	return 0;
}

/* base: where the ELF file begins in fd. */
static size_t build_id_at(int fd, uint64_t base, uint8_t id[BUILD_ID_BYTES])
{
	uint8_t notes[NOTES_MAX];
	union { Elf64_Ehdr wide; Elf32_Ehdr narrow; } e;
	union { Elf64_Phdr wide; Elf32_Phdr narrow; } p;
	uint64_t at, len;
	size_t size = 0, width;
	unsigned int count;
	ssize_t got;
	bool wide;

	if (pread(fd, &e, sizeof(e), (off_t)base) != sizeof(e) ||
	    memcmp(e.wide.e_ident, ELFMAG, SELFMAG))
		return 0;
	wide = e.wide.e_ident[EI_CLASS] == ELFCLASS64;
	at = base + (wide ? e.wide.e_phoff : e.narrow.e_phoff);
	count = wide ? e.wide.e_phnum : e.narrow.e_phnum;
	width = wide ? sizeof(p.wide) : sizeof(p.narrow);
	for (unsigned int i = 0; i < count && i < SEGMENTS_MAX && !size; i++) {
		if (pread(fd, &p, width, (off_t)(at + i * width)) != (ssize_t)width ||
		    (wide ? p.wide.p_type : p.narrow.p_type) != PT_NOTE)
			continue;
		len = wide ? p.wide.p_filesz : p.narrow.p_filesz;
		got = pread(fd, notes, len < NOTES_MAX ? len : NOTES_MAX,
			    (off_t)(base + (wide ? p.wide.p_offset : p.narrow.p_offset)));
		if (got > 0)
			size = build_id_in_notes(notes, (size_t)got, id);
	}
	return size;
}

size_t build_id_of_file(pid_t pid, const char *path, uint8_t id[BUILD_ID_BYTES])
{
	struct buf name = { 0 };
	int fd = mapped_file_open("/proc", pid, path, &name);
	size_t size = 0;

	buf_free(&name);
	if (fd < 0)
		return 0;
	size = build_id_at(fd, 0, id);
	close(fd);
	return size;
}

size_t build_id_of_vdso(uint8_t id[BUILD_ID_BYTES])
{
	uint64_t base = getauxval(AT_SYSINFO_EHDR);
	int fd = base ? open("/proc/self/mem", O_RDONLY | O_CLOEXEC) : -1;
	size_t size;

	if (fd < 0)
		return 0;
	size = build_id_at(fd, base, id);
	close(fd);
	return size;
}

size_t build_id_of_kernel(uint8_t id[BUILD_ID_BYTES])
{
	int fd = open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC);
	uint8_t notes[NOTES_MAX];
	ssize_t n;

	if (fd < 0)
		return 0;
	n = read(fd, notes, sizeof(notes));
	close(fd);
	return n > 0 ? build_id_in_notes(notes, (size_t)n, id) : 0;
}

#ifdef HAVE_LIBBPF
#include <bpf/btf.h>
#else
struct btf;
#endif

enum { THREADS_MAX = 1 << 16 };

/* Return a new thread, mapping or function at the end of the list. */
static struct proc_image_thread *proc_image_add_thread(struct proc_image *p, pid_t tid,
							const char *comm)
{
	struct proc_image_thread *t;

	t = &APPEND(p->threads, p->nthreads);
	*t = (struct proc_image_thread){ .tid = tid };
	snprintf(t->comm, sizeof(t->comm), "%.15s", comm);
	return t;
}

static struct proc_image_map *proc_image_add_map(struct proc_image *p, const char *path)
{
	struct proc_image_map *m;

	m = &APPEND(p->maps, p->nmaps);
	*m = (struct proc_image_map){ .path = xstrdup(path) };
	return m;
}

static struct proc_image_function *proc_image_add_function(struct proc_image *p, const char *name)
{
	struct proc_image_function *f;

	f = &APPEND(p->functions, p->nfunctions);
	*f = (struct proc_image_function){ .name = xstrdup(name) };
	return f;
}

/* Add a line of /proc/PID/maps if it is an executable mapping. */
static void proc_image_add_line(struct proc_image *p, const char *line)
{
	unsigned long long start, end, pgoff, inode;
	unsigned int major, minor;
	struct proc_image_map *m;
	char prot[5];
	const char *path;
	int at = 0;

	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu%n", &start, &end, prot, &pgoff, &major,
		   &minor, &inode, &at) < 7 || strlen(prot) < 4 || prot[2] != 'x' || start >= end)
		return;
	path = line + at + strspn(line + at, " ");
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

pid_t proc_group_of(pid_t tid, pid_t *parent)
{
	struct lines l = proc_lines(tid, "status");
	int pid = 0, above = 0;

	while (lines_next(&l))
		if (sscanf(l.text, "Tgid: %d", &pid) != 1 &&
		    sscanf(l.text, "PPid: %d", &above) == 1)
			break;
	lines_end(&l);
	if (parent)
		*parent = above;
	return pid;
}

bool proc_image_read(pid_t pid, bool maps, const struct pidns *ns, struct proc_image *p)
{
	char path[40], comm[32];
	struct lines l = { 0 };
	const char *name;
	pid_t parent;
	DIR *dir;

	*p = (struct proc_image){ .pid = proc_pid_in(ns, pid), .here = pid };
	if (!p->pid)
		return false;
	proc_group_of(pid, &parent);
	p->parent = parent ? proc_pid_in(ns, parent) : 0;
	if (proc_comm(pid, comm, sizeof(comm)))
		proc_image_add_thread(p, p->pid, comm)->here = pid;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = sysfile_dir(AT_FDCWD, path);
	while (dir && p->nthreads < THREADS_MAX && (name = sysfile_next(dir))) {
		pid_t tid = (pid_t)atoi(name);

		if (tid > 0 && tid != pid && proc_comm(tid, comm, sizeof(comm)))
			proc_image_add_thread(p, proc_pid_in(ns, tid), comm)->here = tid;
	}
	if (dir)
		closedir(dir);
	if (maps)
		l = proc_lines(pid, "maps");
	while (p->nmaps < PROC_IMAGE_MAPS && lines_next(&l))
		proc_image_add_line(p, l.text);
	lines_end(&l);
	if (!p->nthreads)
		proc_image_free(p);
	return p->nthreads;
}

bool proc_image_read_kernel(struct proc_image *p)
{
	struct lines l = lines_of("/proc/kallsyms");
	struct proc_image_map *m;
	uint64_t start = 0, end = 0;
	unsigned long long size, addr;
	char name[64], path[72];
	bool text = false;

	*p = (struct proc_image){ .pid = -1, .here = -1 };
	/* perf takes the kernel to lie between _text, or else _stext, and _etext */
	while (!end && lines_next(&l)) {
		if (!strstr(l.text, "text") || sscanf(l.text, "%llx %*c %63s", &addr, name) != 2)
			continue;
		if (!strcmp(name, "_etext"))
			end = addr;
		else if (!strcmp(name, "_text") || (!text && !strcmp(name, "_stext")))
			start = addr;
		text |= !strcmp(name, "_text");
	}
	lines_end(&l);
	if (!start || start >= end)
		return false;
	/* the name says at which symbol it starts, so that perf knows how far it was moved */
	m = proc_image_add_map(p, "[kernel.kallsyms]_text");
	m->start = m->pgoff = start;
	m->end = end;
	l = lines_of("/proc/modules");
	while (lines_next(&l)) {
		if (sscanf(l.text, "%63s %llu %*s %*s %*s %llx", name, &size, &addr) != 3 || !addr)
			continue;
		snprintf(path, sizeof(path), "[%s]", name);
		m = proc_image_add_map(p, path);
		m->start = addr;
		m->end = addr + size;
	}
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

void proc_image_add_namespaces(struct proc_image *p)
{
	static const char *const names[NR_NAMESPACES] = {
		[NET_NS_INDEX] = "net", [UTS_NS_INDEX] = "uts",	  [IPC_NS_INDEX] = "ipc",
		[PID_NS_INDEX] = "pid", [USER_NS_INDEX] = "user", [MNT_NS_INDEX] = "mnt",
		[CGROUP_NS_INDEX] = "cgroup",
	};
	const struct layout *l = &layout_perf_record_namespaces, *link = &layout_perf_ns_link_info;
	const size_t links = NR_NAMESPACES * link->size;

	for (size_t i = 0; i < p->nthreads && p->records.len < RECORDS_MOST; i++) {
		const struct proc_image_thread *t = &p->threads[i];
		uint8_t *bytes = records_begin(&p->records, PERF_RECORD_NAMESPACES, l->size,
					       l->size + links);

		field_set(&l->fields[PERF_RECORD_NAMESPACES_PID], (uint32_t)p->pid, bytes);
		field_set(&l->fields[PERF_RECORD_NAMESPACES_TID], (uint32_t)t->tid, bytes);
		field_set(&l->fields[PERF_RECORD_NAMESPACES_NR_NAMESPACES], NR_NAMESPACES, bytes);
		bytes += l->size;
		for (size_t k = 0; k < NR_NAMESPACES; k++, bytes += link->size) {
			char path[40];
			struct stat st;

			snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)t->here, names[k]);
			if (stat(path, &st))
				continue;
			field_set(&link->fields[PERF_NS_LINK_INFO_DEV], st.st_dev, bytes);
			field_set(&link->fields[PERF_NS_LINK_INFO_INO], st.st_ino, bytes);
		}
		p->records.len += links;
	}
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
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + sizeof(uint64_t)];
	} u = { .handle.handle_bytes = sizeof(uint64_t) };
	uint64_t id = 0;
	int at;

	/* the id of a cgroup is its file handle */
	if (!name_to_handle_at(AT_FDCWD, path, &u.handle, &at, 0))
		memcpy(&id, u.handle.f_handle, sizeof(id));
	field_set(&l->fields[PERF_RECORD_CGROUP_ID], id,
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

enum { FUNCTIONS_MAX = 4096 };

/* The functions of a program. */
struct bpf_code {
	bool typed;	/* libbpf can read the types of functions */
	struct bpf_prog_info info;
	uint64_t starts[FUNCTIONS_MAX];
	uint32_t sizes[FUNCTIONS_MAX];
	uint8_t tags[FUNCTIONS_MAX][BPF_TAG_SIZE];
	struct bpf_func_info types[FUNCTIONS_MAX];
};

/* Return the id of the program after that one, or 0: none is left, or only root may know. */
static uint32_t bpf_next_program(uint32_t id)
{
	union bpf_attr a = { .start_id = id };

	return syscall(SYS_bpf, BPF_PROG_GET_NEXT_ID, &a, sizeof(a)) ? 0 : a.next_id;
}

static bool bpf_read_code(uint32_t id, struct bpf_code *c)
{
	union bpf_attr get = { .prog_id = id }, query = { .info.info_len = sizeof(c->info) };
	int fd = (int)syscall(SYS_bpf, BPF_PROG_GET_FD_BY_ID, &get, sizeof(get));
	struct bpf_prog_info *i = &c->info;
	bool ok;

	if (fd < 0)
		return false;
	*i = (struct bpf_prog_info){
		.nr_jited_ksyms = FUNCTIONS_MAX, .jited_ksyms = (uintptr_t)c->starts,
		.nr_jited_func_lens = FUNCTIONS_MAX, .jited_func_lens = (uintptr_t)c->sizes,
		.nr_prog_tags = FUNCTIONS_MAX, .prog_tags = (uintptr_t)c->tags,
		.nr_func_info = FUNCTIONS_MAX, .func_info = (uintptr_t)c->types,
		.func_info_rec_size = sizeof(*c->types),
	};
	query.info.bpf_fd = (uint32_t)fd;
	query.info.info = (uintptr_t)i;
	ok = !syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &query, sizeof(query));
	close(fd);
	return ok && i->nr_jited_ksyms <= FUNCTIONS_MAX &&
	       i->nr_jited_ksyms == i->nr_jited_func_lens && i->nr_jited_ksyms == i->nr_prog_tags;
}

/* Return the types of the program's functions, or NULL. */
static struct btf *bpf_types_of(const struct bpf_code *c)
{
#ifdef HAVE_LIBBPF
	if (c->typed && c->info.nr_func_info == c->info.nr_jited_ksyms)
		return BPF(btf__load_from_kernel_by_id)(c->info.btf_id);
#endif
	(void)c;
	return NULL;
}

/* Return the name of the function whose type that is, or NULL. */
static const char *bpf_name_of(const struct btf *types, uint32_t type)
{
#ifdef HAVE_LIBBPF
	const struct btf_type *t = types ? BPF(btf__type_by_id)(types, type) : NULL;

	return t ? BPF(btf__name_by_offset)(types, t->name_off) : NULL;
#else
	(void)types, (void)type;
	return NULL;
#endif
}

/* Add the functions; the kernel and perf name them by the tag, and by the type or the program. */
static void proc_image_add_program(struct proc_image *p, const struct bpf_code *c)
{
	struct btf *types = bpf_types_of(c);
	bool only = c->info.nr_jited_ksyms == 1 && *c->info.name;
	struct buf name = { 0 };

	for (uint32_t i = 0; i < c->info.nr_jited_ksyms; i++) {
		const char *typed = bpf_name_of(types, c->types[i].type_id);
		struct proc_image_function *f;

		if (!c->starts[i]) /* concealed (kptr_restrict) */
			continue;
		buf_reset(&name);
		buf_adds(&name, "bpf_prog_");
		for (size_t k = 0; k < BPF_TAG_SIZE; k++)
			buf_addf(&name, "%02x", c->tags[i][k]);
		buf_addf(&name, "_%s", typed ? typed : only ? c->info.name : "F");
		f = proc_image_add_function(p, buf_str(&name));
		f->start = c->starts[i];
		f->size = c->sizes[i];
		f->program = c->info.id;
		memcpy(f->tag, c->info.tag, sizeof(f->tag));
	}
	buf_free(&name);
#ifdef HAVE_LIBBPF
	if (types)
		BPF(btf__free)(types);
#endif
}

/* Return whether p has the functions of the programs that are loaded, and of no others. */
static bool proc_image_has_programs(const struct proc_image *p)
{
	uint32_t id = 0;

	for (size_t i = 0; i < p->nfunctions; i++) {
		if (p->functions[i].program == id || !p->functions[i].program)
			continue;
		id = bpf_next_program(id);
		if (p->functions[i].program != id)
			return false;
	}
	return !bpf_next_program(id);
}

void proc_image_update_functions(struct proc_image *p)
{
	struct bpf_code *c;
	size_t n = 0;

	if (proc_image_has_programs(p))
		return;
	for (size_t i = 0; i < p->nfunctions; i++) {
		if (p->functions[i].program)
			free(p->functions[i].name);
		else
			p->functions[n++] = p->functions[i];
	}
	p->nfunctions = n;
	if (!bpf_next_program(0))
		return;
	c = xcalloc(1, sizeof(*c)); /* valgrind does not see what bpf(2) writes */
#ifdef HAVE_LIBBPF
	c->typed = LATE_LOAD(LIBBPF);
#endif
	for (uint32_t id = 0; (id = bpf_next_program(id));)
		if (bpf_read_code(id, c))
			proc_image_add_program(p, c);
	free(c);
}

void proc_image_add_trampolines(struct proc_image *p)
{
	struct proc_image_function *found;
	unsigned long long start;
	char name[128];

	if (!bpf_next_program(0))
		return;
	for (struct lines l = lines_of("/proc/kallsyms"); lines_next(&l);) {
		if (!strstr(l.text, "\t[bpf]") ||
		    sscanf(l.text, "%llx %*c %127s", &start, name) != 2 ||
		    (strncmp(name, "bpf_trampoline_", 15) && strncmp(name, "bpf_dispatcher_", 15)))
			continue;
		found = proc_image_add_function(p, name);
		found->start = start;
		found->size = (uint32_t)sysconf(_SC_PAGESIZE); /* perf takes it to be that */
	}
}
