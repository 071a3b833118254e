// SPDX-License-Identifier: LGPL-2.1-or-later
/* The helper process of the resolver. */
#include "core/host/resolver_internal.h"

#ifdef HAVE_LIBDW
#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/host/symtab.h"
#include "core/host/sysfile.h"
#include "core/lib/buf.h"
#include "core/lib/die.h"
#include "core/lib/late.h"
#include "core/lib/program.h"

enum { MAX_SEGMENTS = 256, MAX_SCOPES = 128 };

/* A part of the file that is mapped as code, and the address it is linked to. */
struct segment {
	uint64_t offset, size, addr;
};

struct debug_info {
	Dwfl_Callbacks callbacks;
	Dwfl *dwfl;
	Dwfl_Module *module;		/* NULL: not an ELF file */
	struct symtab symbols;
	struct segment segments[MAX_SEGMENTS];
	size_t nsegments;
	bool dwarf_read;
	Dwarf *dwarf;			/* NULL: none */
};

/* Separate debug information ----------------------------------------------------- */

/*
 * Find the file by its build ID, or else that of a .gnu_debuglink section beside the file itself.
 * libdwfl's own search would open whatever the section names.
 */
static int debug_info_find_separate(Dwfl_Module *module, void **data, const char *name,
				    Dwarf_Addr base, const char *path, const char *link,
				    GElf_Word crc, char **found)
{
	static const char *const places[] = { "/", "/.debug/" };
	const char *slash = path ? strrchr(path, '/') : NULL;
	const unsigned char *id;
	const void *its;
	GElf_Addr at;
	int fd = DW(dwfl_build_id_find_debuginfo)(module, data, name, base, path, link, crc, found);
	int len = fd < 0 ? DW(dwfl_module_build_id)(module, &id, &at) : 0;

	if (fd >= 0 || len <= 0 || !slash || !link || strchr(link, '/'))
		return fd;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct buf b = { 0 };
		bool same = false;
		Elf *elf;

		buf_addf(&b, "%.*s%s%s", (int)(slash - path), path, places[i], link);
		fd = mapped_file_open_regular(buf_str(&b));
		if (fd >= 0) {
			elf = DW(elf_begin)(fd, ELF_C_READ_MMAP, NULL);
			same = elf && DW(dwelf_elf_gnu_build_id)(elf, &its) == len &&
			       !memcmp(its, id, (size_t)len);
			DW(elf_end)(elf);
		}
		if (same) {
			*found = b.data;
			return fd;
		}
		if (fd >= 0)
			close(fd);
		buf_free(&b);
	}
	return -1;
}

/*
 * Find the file with which dwz made this one share debug information, by its build ID;
 * return false if it is missing.  dwarf_getalt() would open whatever path the section names.
 */
static bool debug_info_set_alternate(Dwarf *dwarf)
{
	const unsigned char *id;
	const char *name;
	const void *bytes;
	ssize_t len = DW(dwelf_dwarf_gnu_debugaltlink)(dwarf, &name, &bytes);
	struct buf path = { 0 };
	Dwarf *other = NULL;
	int fd;

	if (len <= 0)
		return !len;
	id = bytes;
	buf_adds(&path, "/usr/lib/debug/.build-id/");
	for (ssize_t i = 0; i < len; i++)
		buf_addf(&path, i == 1 ? "/%02x" : "%02x", id[i]);
	buf_adds(&path, ".debug");
	fd = mapped_file_open_regular(buf_str(&path));
	buf_free(&path);
	if (fd >= 0)
		other = DW(dwarf_begin)(fd, DWARF_C_READ);
	if (other)
		DW(dwarf_setalt)(dwarf, other);	/* both remain until the process ends */
	return other;
}

/* Symbols -------------------------------------------------------------------------- */

static void debug_info_read_symbols(struct debug_info *d)
{
	GElf_Addr bias;
	GElf_Ehdr header;
	Elf *elf = DW(dwfl_module_getelf)(d->module, &bias);
	bool arm = elf && DW(gelf_getehdr)(elf, &header) && header.e_machine == EM_ARM;
	int n = DW(dwfl_module_getsymtab)(d->module);

	for (int i = 1; i < n; i++) {
		char name[CODE_NAME];
		GElf_Sym sym;
		GElf_Addr addr;
		const char *found = DW(dwfl_module_getsym_info)(d->module, i, &sym, &addr,
							    NULL, NULL, NULL);
		int type = found ? GELF_ST_TYPE(sym.st_info) : STT_SECTION;

		/* symbols of assembly have no type; "$x" and "$d" only separate code from data */
		if (!found || !*found || sym.st_shndx == SHN_UNDEF ||
		    !(type == STT_FUNC || type == STT_GNU_IFUNC ||
		      (type == STT_NOTYPE && sym.st_shndx != SHN_ABS && !strchr("$.", *found))))
			continue;
		/* without the version behind '@'; bit 0 of ARM selects the instruction set */
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(found, "@"), found);
		symtab_add(&d->symbols, arm ? addr & ~(GElf_Addr)1 : addr, sym.st_size,
			   GELF_ST_BIND(sym.st_info) != STB_LOCAL, name, NULL);
	}
	symtab_sort(&d->symbols);
}

/*
 * Read the symbols of the ELF file that fd is open on, from the file itself or from
 * separate debug information of the same build ID.  path is where the file was found.
 * Takes fd over.  Never NULL.
 */
static struct debug_info *debug_info_new(int fd, const char *path)
{
	struct debug_info *d = xcalloc(1, sizeof(*d));
	GElf_Addr bias;
	size_t n = 0;
	Elf *elf;

	d->callbacks = (Dwfl_Callbacks){
		.find_elf = DW(dwfl_build_id_find_elf), .find_debuginfo = debug_info_find_separate,
		.section_address = DW(dwfl_offline_section_address),
	};
	d->dwfl = DW(dwfl_begin)(&d->callbacks);
	if (d->dwfl)
		d->module = DW(dwfl_report_elf)(d->dwfl, path, path, fd, 0, true);
	if (!d->module) {
		close(fd);
		return d;
	}
	DW(dwfl_report_end)(d->dwfl, NULL, NULL);
	elf = DW(dwfl_module_getelf)(d->module, &bias);
	if (!elf || DW(elf_getphdrnum)(elf, &n))
		n = 0;
	for (size_t i = 0; i < n && d->nsegments < MAX_SEGMENTS; i++) {
		GElf_Phdr p;

		if (DW(gelf_getphdr)(elf, (int)i, &p) && p.p_type == PT_LOAD && p.p_flags & PF_X)
			d->segments[d->nsegments++] = (struct segment){
				p.p_offset, p.p_filesz, p.p_vaddr + bias,
			};
	}
	debug_info_read_symbols(d);
	return d;
}

/* Source lines ---------------------------------------------------------------------- */

static Dwarf_Word debug_info_number(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	Dwarf_Word v = 0;

	if (DW(dwarf_attr)(die, name, &attr))
		DW(dwarf_formudata)(&attr, &v);
	return v;
}

/*
 * Find the scopes around addr below die, outermost first; return how many there are.
 * dwarf_getscopes() cannot tell inlined functions from those around them, and
 * dwarf_getscopes_die() visits the whole unit.
 */
static size_t debug_info_scopes(Dwarf_Die *die, Dwarf_Addr addr, Dwarf_Die *scopes, size_t max)
{
	Dwarf_Die child;
	size_t n = 0;

	if (!max || DW(dwarf_child)(die, &child))
		return 0;
	do {
		switch (DW(dwarf_tag)(&child)) {
		case DW_TAG_subprogram:
		case DW_TAG_inlined_subroutine:
		case DW_TAG_lexical_block:
			if (DW(dwarf_haspc)(&child, addr) <= 0)
				break;
			scopes[0] = child;
			return 1 + debug_info_scopes(&child, addr, scopes + 1, max - 1);
		case DW_TAG_namespace:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
			n = debug_info_scopes(&child, addr, scopes, max);
			break;
		}
	} while (!n && !DW(dwarf_siblingof)(&child, &child));
	return n;
}

/* Go from the innermost scope outwards: each inlined function moves file and line. */
static void debug_info_add_scopes(Dwarf_Die *unit, Dwarf_Addr addr, const char *file,
				  uint32_t line, struct code *c)
{
	Dwarf_Die scopes[MAX_SCOPES];
	Dwarf_Attribute attr;
	const char *name;
	Dwarf_Files *files;
	size_t n = debug_info_scopes(unit, addr, scopes, MAX_SCOPES);

	/* the scopes of a skeleton are in a .dwo file: the line may be that of an inlined function */
	if (!n && (DW(dwarf_hasattr)(unit, DW_AT_dwo_name) ||
		   DW(dwarf_hasattr)(unit, DW_AT_GNU_dwo_name)))
		return;
	if (DW(dwarf_getsrcfiles)(unit, &files, NULL))
		n = 0;
	while (file && n-- && DW(dwarf_tag)(&scopes[n]) != DW_TAG_subprogram) {
		if (DW(dwarf_tag)(&scopes[n]) != DW_TAG_inlined_subroutine)
			continue;
		name = DW(dwarf_attr_integrate)(&scopes[n], DW_AT_linkage_name, &attr) ?
		       DW(dwarf_formstring)(&attr) : NULL;
		if (!name)
			name = DW(dwarf_diename)(&scopes[n]);
		/* the last place is for the outermost function */
		if (c->nlines < CODE_LINES - 1)
			code_add_line(c, name ? name : "?", file, line);
		file = DW(dwarf_filesrc)(files, debug_info_number(&scopes[n], DW_AT_call_file),
				     NULL, NULL);
		line = (uint32_t)debug_info_number(&scopes[n], DW_AT_call_line);
	}
	if (file)
		code_add_line(c, "", file, line);
}

static void debug_info_add_lines(struct debug_info *d, Dwarf_Addr addr, struct code *c)
{
	Dwarf_Addr bias;
	Dwarf_Die *unit;
	Dwarf_Line *line;
	const char *file;
	int number = 0;

	if (!d->dwarf_read) {
		d->dwarf_read = true;
		d->dwarf = DW(dwfl_module_getdwarf)(d->module, &bias);
		if (d->dwarf && !debug_info_set_alternate(d->dwarf))
			d->dwarf = NULL;
	}
	unit = d->dwarf ? DW(dwfl_module_addrdie)(d->module, addr, &bias) : NULL;
	if (d->dwarf && !unit) /* that searches .debug_aranges, which clang does not write */
		while ((unit = DW(dwfl_module_nextcu)(d->module, unit, &bias)))
			if (DW(dwarf_haspc)(unit, addr - bias) > 0)
				break;
	line = unit ? DW(dwarf_getsrc_die)(unit, addr - bias) : NULL;
	file = line ? DW(dwarf_linesrc)(line, NULL, NULL) : NULL;
	if (file && !DW(dwarf_lineno)(line, &number))
		debug_info_add_scopes(unit, addr - bias, file, (uint32_t)number, c);
}

/*
 * Find the symbol and source lines at byte offset of the file.  after_call: offset is the
 * return address of a call; use the byte before it.
 */
static void debug_info_find(struct debug_info *d, uint64_t offset, bool after_call, struct code *c)
{
	code_start(c);
	for_each(g, d->segments, d->nsegments) {
		const struct symtab_entry *e;
		uint64_t addr = offset - g->offset + g->addr;

		if (offset < g->offset || offset - g->offset >= g->size + after_call)
			continue;
		addr -= after_call;
		e = symtab_find(&d->symbols, addr);
		if (e)
			code_set_symbol(c, symtab_name(&d->symbols, e),
					addr + after_call - e->addr);
		debug_info_add_lines(d, addr, c);
		return;
	}
}

/* The process ------------------------------------------------------------------------ */

enum { MAX_FILES = 64, IDLE_MS = 2000 };

struct file {
	uint64_t id;		/* 0: free */
	uint64_t used;
	struct stat st;
	struct debug_info *info;
};

struct helper {
	const char *proc;
	uint64_t last_id;
	uint64_t clock;		/* counts uses, to find the oldest */
	struct file files[MAX_FILES];
};

/* Return the entry of the file if it is known, else the least recently used one, emptied. */
static struct file *resolver_place(struct helper *h, const struct stat *st)
{
	struct file *oldest = &h->files[0];

	for_each(f, h->files, MAX_FILES) {
		if (f->id && f->st.st_dev == st->st_dev && f->st.st_ino == st->st_ino &&
		    f->st.st_size == st->st_size && f->st.st_mtim.tv_sec == st->st_mtim.tv_sec &&
		    f->st.st_mtim.tv_nsec == st->st_mtim.tv_nsec)
			return f;
		if (f->used < oldest->used)
			oldest = f;
	}
	if (oldest->info) {
		if (oldest->info->dwfl)
			DW(dwfl_end)(oldest->info->dwfl);
		symtab_free(&oldest->info->symbols);
		free(oldest->info);
	}
	*oldest = (struct file){ 0 };
	return oldest;
}

/* Return the file of a request, or NULL if it cannot be opened. */
static struct file *resolver_file(struct helper *h, const struct resolver_request *r)
{
	struct buf path = { 0 };
	struct file *f = NULL;
	struct stat st;
	int fd;

	for (size_t i = 0; r->file && i < MAX_FILES; i++)
		if (h->files[i].id == r->file)
			return &h->files[i];
	/* as the process sees it; or by the mapping, if the file was deleted */
	fd = mapped_file_open(h->proc, r->pid, r->path, &path);
	if (fd < 0) {
		buf_reset(&path);
		buf_addf(&path, "%s/%d/map_files/%" PRIx64 "-%" PRIx64, h->proc, (int)r->pid,
			 r->start, r->end);
		fd = mapped_file_open_regular(buf_str(&path));
	}
	if (fd >= 0 && !fstat(fd, &st)) {
		f = resolver_place(h, &st);
		if (f->id) {
			close(fd);
		} else {
			f->id = ++h->last_id;
			f->st = st;
			f->info = debug_info_new(fd, buf_str(&path));
		}
	}
	buf_free(&path);
	return f;
}

_Noreturn void resolver_run(int socket, const char *proc, uint64_t first_file)
{
	struct pollfd p = { .fd = HELPER_SOCKET, .events = POLLIN };
	struct helper h = { .proc = proc, .last_id = first_file };
	struct resolver_request r;
	static struct resolver_answer a;
	struct file *f;
	size_t size;

	helper_seclude("pevtrace names", socket);
	/* a tracer that is init is the parent, and waits for the end of every child */
	while (poll(&p, 1, IDLE_MS) > 0 && recv(HELPER_SOCKET, &r, sizeof(r), 0) > 0) {
		helper_limit(RESOLVER_CPU_S, RESOLVER_ALL_S);
		a.file = 0;
		code_start(&a.code);
		f = resolver_file(&h, &r);
		if (f) {
			f->used = ++h.clock;
			a.file = f->id;
			debug_info_find(f->info, r.offset, r.after_call, &a.code);
		}
		helper_limit(0, 0);
		size = offsetof(struct resolver_answer, code) + code_size(&a.code);
		if (send(HELPER_SOCKET, &a, size, MSG_NOSIGNAL) != (ssize_t)size)
			_exit(1);
	}
	_exit(0);
}
#endif
