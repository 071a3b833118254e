// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/perfdata/perfdata_internal.h"

#define WINDOW ((size_t)1 << 20)

/* Copy the content of a pipe to a temporary file, to read it twice. */
static bool perffile_copy(struct perffile *p, FILE *f)
{
	char *room = xmalloc(WINDOW);
	bool ok = true;
	size_t n;

	p->copy = tmpfile();
	if (!p->copy) {
		warn("cannot create a temporary file for '%s': %s; use a file that is not "
		     "a pipe", p->path, strerror(errno));
		free(room);
		return false;
	}
	while (ok && (n = fread(room, 1, WINDOW, f)) > 0)
		ok = fwrite(room, 1, n, p->copy) == n;
	if (ferror(f) || !ok || fflush(p->copy)) {
		warn("cannot read all of '%s': %s", p->path, strerror(errno));
		ok = false;
	}
	free(room);
	return ok;
}

bool perffile_open(struct perffile *p, FILE *f, const char *path)
{
	struct stat st;

	*p = (struct perffile){ .path = path, .fd = fileno(f) };
	if (fstat(p->fd, &st) || !S_ISREG(st.st_mode)) {
		if (!perffile_copy(p, f) || fstat(fileno(p->copy), &st)) {
			perffile_close(p);
			return false;
		}
		p->fd = fileno(p->copy);
	}
	p->size = (uint64_t)st.st_size;
	p->window = xmalloc(WINDOW);
	return true;
}

void perffile_close(struct perffile *p)
{
	if (p->copy)
		fclose(p->copy);
	free(p->window);
	p->copy = NULL;
	p->window = NULL;
}

bool perffile_has(const struct perffile *p, uint64_t offset, uint64_t len)
{
	return offset <= p->size && len <= p->size - offset;
}

static size_t perffile_fill(const struct perffile *p, void *to, size_t len, uint64_t offset)
{
	size_t have = 0;
	ssize_t n = 1;

	while (have < len && n > 0) {
		n = pread(p->fd, (uint8_t *)to + have, len - have, (off_t)(offset + have));
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0)
			have += (size_t)n;
	}
	if (n < 0)
		warn("cannot read '%s': %s", p->path, strerror(errno));
	return have;
}

const uint8_t *perffile_at(struct perffile *p, uint64_t offset, size_t len)
{
	if (len > WINDOW || !perffile_has(p, offset, len))
		return NULL;
	if (offset < p->at || offset - p->at > p->len || p->len - (offset - p->at) < len) {
		p->at = offset;
		p->len = perffile_fill(p, p->window, WINDOW, offset);
		if (p->len < len)
			return NULL; /* the file was truncated, or the disk failed */
	}
	return p->window + (offset - p->at);
}

uint8_t *perffile_read(struct perffile *p, uint64_t offset, size_t len)
{
	uint8_t *bytes;

	if (!perffile_has(p, offset, len))
		return NULL;
	bytes = xmalloc(len ? len : 1);
	if (perffile_fill(p, bytes, len, offset) == len)
		return bytes;
	free(bytes);
	return NULL;
}
