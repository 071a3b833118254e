// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/host/build_id.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "core/host/sysfile.h"

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

/* Where a segment is in the file. */
struct notes {
	uint64_t offset, size;
	bool found;	/* it has notes */
};

static struct notes read_segment(int fd, const Elf64_Ehdr *e, uint64_t at)
{
	struct notes n = { 0 };
	Elf64_Phdr p64;
	Elf32_Phdr p32;

	if (e->e_ident[EI_CLASS] == ELFCLASS64) {
		if (pread(fd, &p64, sizeof(p64), (off_t)at) == sizeof(p64))
			n = (struct notes){ p64.p_offset, p64.p_filesz,
					    p64.p_type == PT_NOTE };
	} else if (pread(fd, &p32, sizeof(p32), (off_t)at) == sizeof(p32)) {
		n = (struct notes){ p32.p_offset, p32.p_filesz, p32.p_type == PT_NOTE };
	}
	return n;
}

/* base: where the ELF file begins in fd. */
static size_t build_id_at(int fd, uint64_t base, uint8_t id[BUILD_ID_BYTES])
{
	uint8_t notes[NOTES_MAX];
	uint64_t offset;
	size_t size = 0, width;
	unsigned int count;
	Elf64_Ehdr e;
	Elf32_Ehdr e32;

	if (pread(fd, &e, sizeof(e), (off_t)base) != sizeof(e) ||
	    memcmp(e.e_ident, ELFMAG, SELFMAG))
		return 0;
	memcpy(&e32, &e, sizeof(e32));
	if (e.e_ident[EI_CLASS] == ELFCLASS64) {
		offset = e.e_phoff;
		count = e.e_phnum;
		width = sizeof(Elf64_Phdr);
	} else {
		offset = e32.e_phoff;
		count = e32.e_phnum;
		width = sizeof(Elf32_Phdr);
	}
	for (unsigned int i = 0; i < count && i < SEGMENTS_MAX && !size; i++) {
		struct notes n = read_segment(fd, &e, base + offset + i * width);
		ssize_t got = !n.found ? 0 :
			      pread(fd, notes, n.size < NOTES_MAX ? n.size : NOTES_MAX,
				    (off_t)(base + n.offset));

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
