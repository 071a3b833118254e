// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dump/dump_read.h"

#include <errno.h>
#include <json-c/json_tokener.h>
#include <stdlib.h>
#include <string.h>

#include "lib/buf.h"
#include "lib/die.h"

enum {
	LINE_MAX_BYTES = 4 << 20,	/* more than the largest call makes */
	NESTING = 32,			/* decoded values need about ten */
	CHUNK = 64 << 10,
};

struct dump_reader {
	FILE *f;
	struct json_tokener *tok;
	struct json_object *line;
	struct buf text;	/* read and not yet used, from at on */
	size_t at;
	bool eof;
	int broken;		/* errno of a read that failed, or 0 */
	unsigned long number;
	char error[160];
};

struct dump_reader *dump_reader_new(FILE *f)
{
	struct dump_reader *r = xcalloc(1, sizeof(*r));

	r->f = f;
	r->tok = json_tokener_new_ex(NESTING);
	if (!r->tok)
		die("out of memory for reading JSON");
	json_tokener_set_flags(r->tok, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	return r;
}

void dump_reader_free(struct dump_reader *r)
{
	if (!r)
		return;
	json_object_put(r->line);
	json_tokener_free(r->tok);
	buf_free(&r->text);
	free(r);
}

unsigned long dump_line_number(const struct dump_reader *r)
{
	return r->number;
}

const char *dump_error(const struct dump_reader *r)
{
	return r->error;
}

/* Reads more; false at the end of the file. */
static bool fill(struct dump_reader *r)
{
	size_t n;

	if (r->eof)
		return false;
	if (r->at) {
		memmove(r->text.data, r->text.data + r->at, r->text.len - r->at);
		r->text.len -= r->at;
		r->at = 0;
	}
	buf_reserve(&r->text, CHUNK);
	n = fread(r->text.data + r->text.len, 1, CHUNK, r->f);
	r->text.len += n;
	r->eof = !n;
	if (!n && ferror(r->f))
		r->broken = errno;
	return n;
}

/* Passes over the rest of a line that is too long to keep. */
static void skip_line(struct dump_reader *r)
{
	do {
		char *start = r->text.data + r->at;
		char *nl = memchr(start, '\n', r->text.len - r->at);

		r->at = nl ? (size_t)(nl - r->text.data) + 1 : r->text.len;
		if (nl)
			return;
	} while (fill(r));
}

/* The next line's bytes; NULL at the end, or with *too_long. */
static const char *next_text(struct dump_reader *r, size_t *len, bool *too_long)
{
	size_t searched = 0;

	*too_long = false;
	for (;;) {
		char *start = r->text.data ? r->text.data + r->at : NULL;
		size_t have = r->text.len - r->at;
		char *nl = have ? memchr(start + searched, '\n', have - searched) : NULL;

		if (nl || (r->eof && have)) {
			*len = nl ? (size_t)(nl - start) : have;
			r->at += *len + !!nl;
			return start;
		}
		if (have > LINE_MAX_BYTES) {
			*too_long = true;
			skip_line(r);
			return NULL;
		}
		searched = have;
		if (!fill(r) && r->text.len == r->at)
			return NULL;
	}
}

enum dump_line dump_next(struct dump_reader *r, struct json_object **o)
{
	const char *text;
	bool too_long;
	size_t len = 0;

	json_object_put(r->line);
	r->line = NULL;
	text = next_text(r, &len, &too_long);
	if (r->broken) {
		snprintf(r->error, sizeof(r->error), "cannot be read: %s",
			 strerror(r->broken));
		r->broken = 0;
		r->at = r->text.len;
		return DUMP_BAD;
	}
	if (!text && !too_long)
		return DUMP_EOF;
	while (text && len && (text[len - 1] == '\r' || text[len - 1] == ' '))
		len--;
	r->number++;
	if (too_long) {
		snprintf(r->error, sizeof(r->error), "longer than %d MiB",
			 LINE_MAX_BYTES >> 20);
		return DUMP_BAD;
	}
	json_tokener_reset(r->tok);
	r->line = json_tokener_parse_ex(r->tok, text, (int)len);
	if (!r->line || json_tokener_get_parse_end(r->tok) != len ||
	    !json_object_is_type(r->line, json_type_object)) {
		enum json_tokener_error e = json_tokener_get_error(r->tok);

		snprintf(r->error, sizeof(r->error), "%s",
			 r->line ? "not one JSON object" :
			 e == json_tokener_continue ? "JSON that is cut off" :
						      json_tokener_error_desc(e));
		return DUMP_BAD;
	}
	*o = r->line;
	return DUMP_LINE;
}

/* Members -------------------------------------------------------------------- */

static struct json_object *member(struct json_object *o, const char *key,
				  enum json_type type)
{
	struct json_object *v;

	if (!json_object_object_get_ex(o, key, &v) || !json_object_is_type(v, type))
		return NULL;
	return v;
}

bool dump_get_int(struct json_object *o, const char *key, int64_t *v)
{
	struct json_object *m = member(o, key, json_type_int);

	int64_t n;

	if (!m)
		return false;
	/* json-c gives the limits for what lies beyond them */
	n = json_object_get_int64(m);
	if (n == INT64_MAX || n == INT64_MIN)
		return false;
	*v = n;
	return true;
}

bool dump_get_uint(struct json_object *o, const char *key, uint64_t *v)
{
	struct json_object *m = member(o, key, json_type_int);

	uint64_t n;

	if (!m || json_object_get_int64(m) < 0)
		return false;
	n = json_object_get_uint64(m);
	if (n == UINT64_MAX)
		return false;
	*v = n;
	return true;
}

bool dump_get_bool(struct json_object *o, const char *key, bool *v)
{
	struct json_object *m = member(o, key, json_type_boolean);

	if (!m)
		return false;
	*v = json_object_get_boolean(m);
	return true;
}

bool dump_get_hex(struct json_object *o, const char *key, uint64_t *v)
{
	const char *text = dump_get_string(o, key);

	return text && dump_parse_hex(text, v);
}

const char *dump_get_string(struct json_object *o, const char *key)
{
	struct json_object *m = member(o, key, json_type_string);

	return m ? json_object_get_string(m) : NULL;
}

struct json_object *dump_get_array(struct json_object *o, const char *key)
{
	return member(o, key, json_type_array);
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 :
	       c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool dump_parse_hex(const char *text, uint64_t *v)
{
	uint64_t n = 0;
	size_t i;

	if (strncmp(text, "0x", 2))
		return false;
	text += 2;
	for (i = 0; text[i]; i++) {
		int d = digit(text[i]);

		if (d < 0 || n >> 60)
			return false;
		n = n << 4 | (unsigned int)d;
	}
	if (i)
		*v = n;
	return i;
}

const char *dump_get_text(struct json_object *o, const char *key)
{
	char hex[64];
	uint8_t *bytes;
	size_t len;

	snprintf(hex, sizeof(hex), "%s_hex", key);
	if (dump_get_bytes(o, hex, &bytes, &len)) {
		json_object_object_add(o, key, json_object_new_string_len((char *)bytes,
									  (int)len));
		free(bytes);
	}
	return dump_get_string(o, key);
}

bool dump_get_bytes(struct json_object *o, const char *key, uint8_t **bytes, size_t *len)
{
	const char *text = dump_get_string(o, key);
	size_t n = text ? strlen(text) : 1;
	uint8_t *p;

	if (n % 2)
		return false;
	p = xmalloc(n / 2 + 1);
	for (size_t i = 0; i < n; i += 2) {
		int high = digit(text[i]), low = digit(text[i + 1]);

		if (high < 0 || low < 0) {
			free(p);
			return false;
		}
		p[i / 2] = (uint8_t)(high << 4 | low);
	}
	*bytes = p;
	*len = n / 2;
	return true;
}
