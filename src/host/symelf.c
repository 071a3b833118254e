// SPDX-License-Identifier: LGPL-2.1-or-later
/* Symbol tables of ELF files, by libelf. */
#include "host/symtab.h"

#ifdef HAVE_LIBELF
#include <gelf.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/die.h"

enum {
	MAX_SEGMENTS = 256,
	MAX_SECTIONS = 1 << 16,
	/* symbols or names; the largest browsers stay below */
	MAX_SECTION = 128 << 20,
	MAX_NAME = 4096,
};

static void read_segments(struct symtab *t, Elf *elf)
{
	size_t n = 0;

	if (elf_getphdrnum(elf, &n) || !n)
		return;
	if (n > MAX_SEGMENTS)
		n = MAX_SEGMENTS;
	t->segments = xcalloc(n, sizeof(*t->segments));
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD ||
		    !(p.p_flags & PF_X))
			continue;
		t->segments[t->nsegments++] = (struct symtab_segment){
			p.p_offset, p.p_filesz, p.p_vaddr,
		};
	}
}

/*
 * Not elf_strptr(): in a table without a NUL it would look through all of it
 * for each symbol.
 */
static const char *name_at(const Elf_Data *strings, uint64_t at)
{
	size_t left = at < strings->d_size ? strings->d_size - at : 0;
	const char *name = (const char *)strings->d_buf + at;

	if (left > MAX_NAME)
		left = MAX_NAME;
	return left && memchr(name, '\0', left) ? name : NULL;
}

static bool is_code(const GElf_Sym *sym, const char *name)
{
	int type = GELF_ST_TYPE(sym->st_info);

	if (sym->st_shndx == SHN_UNDEF || !name || !*name)
		return false;
	/* assembly has no types; "$x" and "$d" only tell code from data */
	return type == STT_FUNC || type == STT_GNU_IFUNC ||
	       (type == STT_NOTYPE && sym->st_shndx != SHN_ABS &&
		*name != '$' && *name != '.');
}

static void read_symbols(struct symtab *t, Elf *elf, Elf_Data *data,
			 const Elf_Data *strings, bool thumb)
{
	size_t size = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
	size_t n = size ? data->d_size / size : 0;

	for (size_t i = 0; i < n; i++) {
		const char *name;
		GElf_Sym sym;

		if (!gelf_getsym(data, (int)i, &sym))
			return;
		name = name_at(strings, sym.st_name);
		if (!is_code(&sym, name))
			continue;
		/* there the lowest bit names the instruction set */
		if (thumb)
			sym.st_value &= ~(uint64_t)1;
		symtab_add(t, sym.st_value, sym.st_size,
			   GELF_ST_BIND(sym.st_info) == STB_GLOBAL, name, NULL);
	}
}

/* A file full of holes can claim any size: what is too large is not read. */
static bool is_sane(Elf_Scn *section, GElf_Shdr *h)
{
	return section && gelf_getshdr(section, h) &&
	       h->sh_size <= MAX_SECTION && !(h->sh_flags & SHF_COMPRESSED);
}

static void read_table(struct symtab *t, Elf *elf, Elf64_Word type, bool thumb)
{
	Elf_Scn *section = NULL;
	size_t seen = 0;

	while ((section = elf_nextscn(elf, section)) && seen++ < MAX_SECTIONS) {
		Elf_Scn *names;
		Elf_Data *data, *strings;
		GElf_Shdr h, nh;

		if (!is_sane(section, &h) || h.sh_type != type)
			continue;
		names = elf_getscn(elf, h.sh_link);
		if (!is_sane(names, &nh) || nh.sh_type != SHT_STRTAB)
			return;
		data = elf_getdata(section, NULL);
		strings = elf_getdata(names, NULL);
		if (data && data->d_buf && strings && strings->d_buf)
			read_symbols(t, elf, data, strings, thumb);
		/* a file has one; a liar's many would only cost time */
		return;
	}
}

void symtab_read_elf(struct symtab *t, int fd)
{
	GElf_Ehdr header;
	struct stat st;
	Elf *elf;

	/* a pipe would make us wait for its writer */
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	    elf_version(EV_CURRENT) == EV_NONE)
		return;
	/* not mapped: a file that is cut meanwhile would mean SIGBUS */
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		return;
	if (elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header)) {
		read_segments(t, elf);
		read_table(t, elf, SHT_SYMTAB, header.e_machine == EM_ARM);
		read_table(t, elf, SHT_DYNSYM, header.e_machine == EM_ARM);
		symtab_sort(t);
	}
	elf_end(elf);
}
#else
void symtab_read_elf(struct symtab *t, int fd)
{
	(void)t;
	(void)fd;
}
#endif
