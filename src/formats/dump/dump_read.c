// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/dump/dump_read.h"

#include <errno.h>
#include <poll.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/lib/buf.h"
#include "core/lib/die.h"

enum {
	LINE_MAX_BYTES = 4 << 20,	/* more than the largest call needs */
	NESTING = 32,			/* decoded values need about ten */
	CHUNK = 64 << 10,
	PUSHED = 8,			/* bytes that are at most pushed back to a file */
};

struct dump_reader {
	FILE *f;
	struct json_scan *scan;
	struct buf text;	/* read and not yet consumed, from at on */
	size_t at;
	bool eof;
	int fd;			/* of f if that is unbuffered: its writer may be slow; or -1 */
	uint64_t done;		/* bytes read */
	int broken;		/* errno of a read that failed, or 0 */
	unsigned long number;
	char error[200];
};

struct dump_reader *dump_reader_new(FILE *f)
{
	struct dump_reader *r = xcalloc(1, sizeof(*r));

	r->f = f;
	r->fd = __fbufsize(f) <= 1 ? fileno(f) : -1;
	r->scan = json_scan_new(NESTING);
	return r;
}

void dump_reader_free(struct dump_reader *r)
{
	if (!r)
		return;
	json_scan_free(r->scan);
	buf_free(&r->text);
	free(r);
}

bool dump_progress(const struct dump_reader *r, uint64_t *done, uint64_t *total)
{
	struct stat st;

	if (fstat(fileno(r->f), &st) || !S_ISREG(st.st_mode))
		return false;
	*done = r->done;
	*total = (uint64_t)st.st_size;
	return true;
}

unsigned long dump_line_number(const struct dump_reader *r)
{
	return r->number;
}

const char *dump_error(const struct dump_reader *r)
{
	return r->error;
}

/* Read more; return false at the end of the file. */
static bool dump_read_fill(struct dump_reader *r)
{
	ssize_t got = 0;
	size_t n = 0;
	char *to;

	if (r->eof)
		return false;
	if (r->at && r->text.data) {
		memmove(r->text.data, r->text.data + r->at, r->text.len - r->at);
		r->text.len -= r->at;
		r->at = 0;
	}
	buf_reserve(&r->text, CHUNK);
	to = r->text.data + r->text.len;
	/* of an unbuffered file, first what perfdata_is() and reader_other_format() pushed back */
	if (r->fd < 0 || (!r->text.len && !r->number))
		n = fread(to, 1, r->fd < 0 ? CHUNK : PUSHED, r->f);
	/* then what is there; fread(3) would wait for all of CHUNK */
	if (r->fd >= 0 && !n) {
		while ((got = read(r->fd, to, CHUNK)) < 0 && errno == EINTR)
			;
		n = got < 0 ? 0 : (size_t)got;
	}
	if (r->fd >= 0)
		r->broken = got < 0 ? errno : 0;
	r->text.len += n;
	r->done += n;
	r->eof = !n || feof(r->f);
	if (!n && ferror(r->f))
		r->broken = errno;
	return n;
}

/* Return the next line's bytes, or NULL at the end or with *too_long. */
static char *next_text(struct dump_reader *r, size_t *len, bool *too_long)
{
	size_t searched = 0;

	*too_long = false;
	for (;;) {
		char *start = r->text.data ? r->text.data + r->at : NULL;
		size_t have = r->text.len - r->at;
		char *nl = start && have ? memchr(start + searched, '\n', have - searched) : NULL;

		if (nl || (r->eof && have)) {
			*len = nl ? (size_t)(nl - start) : have;
			r->at += *len + !!nl;
			return start;
		}
		if (have > LINE_MAX_BYTES) {
			/* skip the rest of it */
			*too_long = true;
			do {
				start = r->text.data + r->at;
				nl = memchr(start, '\n', r->text.len - r->at);
				r->at += nl ? (size_t)(nl - start) + 1 : r->text.len - r->at;
			} while (!nl && dump_read_fill(r));
			return NULL;
		}
		searched = have;
		if (!dump_read_fill(r) && r->text.len == r->at)
			return NULL;
	}
}

bool dump_waits(const struct dump_reader *r)
{
	return r->fd >= 0 && !memchr(r->text.data + r->at, '\n', r->text.len - r->at) &&
	       !poll(&(struct pollfd){ .fd = r->fd, .events = POLLIN }, 1, 0);
}

enum dump_line dump_next(struct dump_reader *r, struct json_value **o)
{
	bool too_long;
	size_t len = 0;
	char *text = next_text(r, &len, &too_long);

	if (r->broken) {
		snprintf(r->error, sizeof(r->error), "cannot be read: %s",
			 strerror(r->broken));
		r->broken = 0;
		r->at = r->text.len;
		return DUMP_BAD;
	}
	if (!text && !too_long)
		return DUMP_EOF;
	r->number++;
	if (too_long) {
		snprintf(r->error, sizeof(r->error), "a line longer than %d MiB",
			 LINE_MAX_BYTES >> 20);
		return DUMP_BAD;
	}
	*o = json_scan_text(r->scan, text, len);
	if (*o && (*o)->type == JSON_OBJECT)
		return DUMP_LINE;
	snprintf(r->error, sizeof(r->error), "not a line of a dump: %s",
		 *o ? "JSON, but not an object" : json_scan_error(r->scan));
	return DUMP_BAD;
}

/* Members -------------------------------------------------------------------- */

static struct json_value *dump_read_member(struct json_value *o, const char *key,
					   enum json_value_type type)
{
	struct json_value *v = json_scan_member(o, key);

	return v && v->type == type ? v : NULL;
}

/* Parse a number without its sign. */
static bool magnitude(const struct json_value *v, bool *negative, uint64_t *n)
{
	uint64_t sum = 0;

	if (v->type != JSON_INT)
		return false;
	*negative = *v->text == '-';
	for (size_t i = *negative; i < v->len; i++)
		if (__builtin_mul_overflow(sum, 10, &sum) ||
		    __builtin_add_overflow(sum, (uint64_t)(v->text[i] - '0'), &sum))
			return false;
	*n = sum;
	return true;
}

bool dump_int(const struct json_value *v, int64_t *n)
{
	bool negative;
	uint64_t u;

	if (!magnitude(v, &negative, &u) || u > (uint64_t)INT64_MAX + negative)
		return false;
	*n = (int64_t)(negative ? -u : u);
	return true;
}

bool dump_get_int(struct json_value *o, const char *key, int64_t *v)
{
	struct json_value *m = json_scan_member(o, key);

	return m && dump_int(m, v);
}

bool dump_get_uint(struct json_value *o, const char *key, uint64_t *v)
{
	struct json_value *m = json_scan_member(o, key);
	bool negative;
	uint64_t u;

	if (!m || !magnitude(m, &negative, &u) || (negative && u))
		return false;
	*v = u;
	return true;
}

bool dump_get_bool(struct json_value *o, const char *key, bool *v)
{
	struct json_value *m = json_scan_member(o, key);

	if (!m || (m->type != JSON_TRUE && m->type != JSON_FALSE))
		return false;
	*v = m->type == JSON_TRUE;
	return true;
}

const char *dump_get_string(struct json_value *o, const char *key)
{
	struct json_value *m = dump_read_member(o, key, JSON_STRING);

	return m ? m->text : NULL;
}

struct json_value *dump_get_array(struct json_value *o, const char *key)
{
	return dump_read_member(o, key, JSON_ARRAY);
}

struct json_value *dump_get_object(struct json_value *o, const char *key)
{
	return dump_read_member(o, key, JSON_OBJECT);
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 :
	       c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool dump_hex(const struct json_value *v, uint64_t *n)
{
	uint64_t sum = 0;

	if (v->type != JSON_STRING || v->len < 3 || memcmp(v->text, "0x", 2))
		return false;
	for (size_t i = 2; i < v->len; i++) {
		int d = digit(v->text[i]);

		if (d < 0 || sum >> 60)
			return false;
		sum = sum << 4 | (unsigned int)d;
	}
	*n = sum;
	return true;
}

bool dump_get_hex(struct json_value *o, const char *key, uint64_t *v)
{
	struct json_value *m = json_scan_member(o, key);

	return m && dump_hex(m, v);
}

const char *dump_get_text(struct json_value *o, const char *key)
{
	uint8_t *bytes;
	char hex[64];
	size_t len = strlen(key);

	if (len + sizeof("_hex") > sizeof(hex))
		return dump_get_string(o, key);
	memcpy(hex, key, len);
	memcpy(hex + len, "_hex", sizeof("_hex"));
	return dump_get_bytes(o, hex, &bytes, &len) ? (const char *)bytes :
						      dump_get_string(o, key);
}

bool dump_get_bytes(struct json_value *o, const char *key, uint8_t **bytes, size_t *len)
{
	struct json_value *m = json_scan_member(o, key);

	if (m && m->type == JSON_STRING) {
		/* convert it in place; it is an empty value if it has other characters */
		bool good = m->len % 2 == 0;

		for (size_t i = 0; good && i < m->len; i += 2) {
			int high = digit(m->text[i]), low = digit(m->text[i + 1]);

			good = high >= 0 && low >= 0;
			if (good)
				m->text[i / 2] = (char)(high << 4 | low);
		}
		m->type = good ? JSON_BYTES : JSON_NULL;
		if (good)
			m->text[m->len /= 2] = '\0';
	}
	if (!m || m->type != JSON_BYTES)
		return false;
	*bytes = (uint8_t *)m->text;
	*len = m->len;
	return true;
}
