// SPDX-License-Identifier: LGPL-2.1-or-later
/* The bytes of a perf.data file. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/lib/output.h"
#include "formats/perfdata/perfout_internal.h"

enum {
	PIPE_HEADER = 16,
	SECTION = 16,
	DRAFT_AT = 1 << 21, /* bytes before drafts, for the records that replace them */
};

static const uint64_t magic = 0x32454c4946524550ULL; /* PERFILE2 */

uint8_t *perfout_begin_record(struct buf *b, uint32_t type, uint16_t misc, size_t size)
{
	const struct field *f = layout_perf_event_header.fields;

	buf_reset(b);
	buf_reserve(b, size);
	memset(b->data, 0, size);
	b->len = size;
	field_set(&f[PERF_EVENT_HEADER_TYPE], type, (uint8_t *)b->data);
	field_set(&f[PERF_EVENT_HEADER_MISC], misc, (uint8_t *)b->data);
	return (uint8_t *)b->data;
}

void perfout_pad(struct buf *b, size_t from, size_t align)
{
	while ((b->len - from) % align)
		buf_addc(b, '\0');
}

void perfout_set_size(struct buf *b)
{
	const struct field *f = &layout_perf_event_header.fields[PERF_EVENT_HEADER_SIZE];

	field_set(f, b->len, (uint8_t *)b->data);
}

void perfout_end_record(struct buf *b)
{
	perfout_pad(b, 0, 8);
	perfout_set_size(b);
}

/*
 * Write at offset, or to a pipe; return how many bytes were written.  Warn of the first failure,
 * after which nothing is written.
 */
static size_t put(struct perfout *o, const struct buf *b, uint64_t offset)
{
	size_t done = 0;

	while (done < b->len && !o->failed) {
		ssize_t n = o->pipe ? write(o->fd, b->data + done, b->len - done)
				    : pwrite(o->fd, b->data + done, b->len - done,
					     (off_t)(offset + done));

		if (n > 0)
			done += (size_t)n;
		else if (!n || errno != EINTR) {
			warn("cannot write '%s': %s", o->path, n ? strerror(errno) : "full");
			o->failed = true;
		}
	}
	return done;
}

void perfout_cut_short(struct perfout *o)
{
	o->cut_short = true;
}

static void perfout_set_header(uint8_t *header, unsigned int member, uint64_t v)
{
	field_set(&layout_perf_file_header.fields[member], v, header);
}

static void perfout_write_header(struct perfout *o, const struct perfout_table *t,
				 const struct buf *features)
{
	const struct layout *l = &layout_perf_file_header;
	struct buf b = { 0 };
	uint64_t present = 0;
	uint8_t *header;

	for (unsigned int i = 0; features && i < FEATURES; i++)
		present |= (uint64_t)(features[i].len > 0) << i;
	buf_reserve(&b, l->size);
	memset(b.data, 0, l->size);
	b.len = l->size;
	header = (uint8_t *)b.data;
	perfout_set_header(header, PERF_FILE_HEADER_MAGIC, magic);
	perfout_set_header(header, PERF_FILE_HEADER_SIZE, l->size);
	perfout_set_header(header, PERF_FILE_HEADER_ATTR_SIZE, t->entry);
	perfout_set_header(header, PERF_FILE_HEADER_ATTRS_OFFSET, o->tables);
	perfout_set_header(header, PERF_FILE_HEADER_ATTRS_SIZE, t->attrs.len);
	perfout_set_header(header, PERF_FILE_HEADER_DATA_OFFSET, o->data);
	perfout_set_header(header, PERF_FILE_HEADER_DATA_SIZE, o->data_end - o->data);
	perfout_set_header(header, PERF_FILE_HEADER_FEATURES, present);
	put(o, &b, 0);
	buf_free(&b);
}

/* Return how many of len bytes are whole records, with the AUX data that follow them. */
static size_t whole_records(const uint8_t *bytes, size_t len)
{
	uint64_t at = 0, size;

	for (; len - at >= RECORD_HEAD; at += size) {
		const uint8_t *record = bytes + at;

		size = layout_get(&layout_perf_event_header, PERF_EVENT_HEADER_SIZE, record, len - at);
		if (load_uint(record, 4) == PERF_RECORD_AUXTRACE)
			size += layout_get(&layout_perf_auxtrace, PERF_AUXTRACE_SIZE, record,
					   len - at);
		if (size < RECORD_HEAD || size > len - at)
			break;
	}
	return at;
}

/* Write the attrs, then their ids, to o->tables. */
static void perfout_write_tables(struct perfout *o, const struct perfout_table *t)
{
	uint64_t ids = o->tables + t->attrs.len;
	struct buf b = { 0 };

	buf_add(&b, t->attrs.data, t->attrs.len);
	for (size_t at = t->entry; at <= b.len; at += t->entry) {
		uint64_t size;

		memcpy(b.data + at - SECTION, &ids, sizeof(ids));
		memcpy(&size, b.data + at - SECTION + 8, sizeof(size));
		ids += size;
	}
	buf_add(&b, t->ids.data, t->ids.len);
	put(o, &b, o->tables);
	o->tables_end = o->tables + b.len;
	buf_free(&b);
}

/* Append the table of the features, which begins at offset, and the features. */
static void perfout_add_features(const struct buf *features, uint64_t offset, struct buf *out)
{
	for (size_t i = 0; i < FEATURES; i++)
		offset += features[i].len ? SECTION : 0;
	for (size_t i = 0; i < FEATURES; i++) {
		if (!features[i].len)
			continue;
		buf_add_u64(out, offset);
		buf_add_u64(out, features[i].len);
		offset += features[i].len;
	}
	for (size_t i = 0; i < FEATURES; i++)
		if (features[i].len)
			buf_add(out, features[i].data, features[i].len);
}

/*
 * Write what is pending: records, then features.  If the file is full, the header, which is there,
 * still tells of the records that found room.
 */
static void perfout_write_records(struct perfout *o, const struct perfout_table *t, size_t records,
				  const struct buf *features)
{
	bool failed = o->failed;
	size_t written = put(o, &o->pending, o->data_end);

	if (!failed && o->failed) {
		o->data_end += whole_records((const uint8_t *)o->pending.data,
					     written < records ? written : records);
		o->failed = false;
		perfout_write_header(o, t, NULL);
		o->failed = true;
	} else if (!failed) {
		o->data_end += records;
		perfout_write_header(o, t, features);
	}
}

/*
 * The tables are behind the records, and move when these need their place.  At any time the
 * header is of records and tables that are there: a kill leaves a file that can be read.
 */
void perfout_write(struct perfout *o, const struct perfout_table *t,
		   const struct buf features[FEATURES], enum perfout_stage stage)
{
	size_t tables = t->attrs.len + t->ids.len;
	uint64_t records = o->pending.len, end;

	if (o->pipe || o->failed) {
		put(o, &o->pending, 0);
		buf_reset(&o->pending);
		return;
	}
	if (o->has_draft || stage == PERFOUT_DRAFT) {
		uint64_t start = stage == PERFOUT_DRAFT ? DRAFT_AT : layout_perf_file_header.size;
		size_t need = records + tables + 16;

		for (size_t i = 0; i < FEATURES; i++)
			need += SECTION + features[i].len;
		/* where nothing is that the header points to */
		if (o->has_draft && start + need > o->data)
			start = (o->tables_end + 7) & ~7ULL;
		o->data = o->data_end = start;
	}
	perfout_add_features(features, o->data_end + records, &o->pending);
	end = (o->data_end + o->pending.len + 7) & ~7ULL;
	/* not where the tables are that the header still points to */
	o->tables = end + tables <= o->tables || end >= o->tables_end ? end : o->tables_end;
	perfout_write_tables(o, t);
	/* the next records may replace the tables of those before */
	if (o->data_end > o->data)
		perfout_write_header(o, t, NULL);
	perfout_write_records(o, t, records, features);
	if ((stage == PERFOUT_LAST || o->has_draft) && ftruncate(o->fd, (off_t)o->tables_end))
		warn("cannot truncate '%s': %s", o->path, strerror(errno));
	o->has_draft = stage == PERFOUT_DRAFT;
	buf_reset(&o->pending);
}

struct perfout *perfout_open(const char *path)
{
	/* perf refuses a file whose attrs are 0 bytes each, even if it has none */
	static const struct perfout_table none = { .entry = PERF_ATTR_SIZE_VER0 + SECTION };
	static const struct buf no_features[FEATURES];
	bool standard = !strcmp(path, "-");
	struct perfout *o;
	struct stat st;
	int fd;

	/* rename a file that is there, as perf record does */
	if (!standard && !create_backup(path)) {
		warn("cannot rename '%s' to '%s.old': %s", path, path, create_error(errno));
		return NULL;
	}
	fd = standard ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
		      : create_file(path, O_TRUNC | O_NOCTTY, CREATE_PRIVATE);
	if (fd < 0) {
		warn("cannot create '%s': %s", path, create_error(errno));
		return NULL;
	}
	if (isatty(fd)) {
		warn("a perf.data file is not for a terminal: redirect standard output, or name a "
		     "file");
		close(fd);
		return NULL;
	}
	o = xcalloc(1, sizeof(*o));
	o->path = standard ? "standard output" : path;
	o->fd = fd;
	o->pipe = standard || fstat(fd, &st) || !S_ISREG(st.st_mode);
	o->data = o->data_end = o->pipe ? PIPE_HEADER : layout_perf_file_header.size;
	if (o->pipe) {
		buf_add_u64(&o->pending, magic);
		buf_add_u64(&o->pending, PIPE_HEADER);
	} else {
		/*
		 * Write what a kill leaves until there are records: perf refuses a file without any.
		 * A traced perf record moves a file that is not empty out of its way.
		 */
		buf_add(&o->pending, &finished_round, RECORD_HEAD);
		perfout_write(o, &none, no_features, PERFOUT_PART);
	}
	return o;
}

FILE *perfout_restart(struct perfout *o, uint64_t *from, uint64_t *to)
{
	char path[32];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", o->fd);
	f = o->pipe ? NULL : fopen(path, "re");
	if (!f || fseeko(f, (off_t)o->data, SEEK_SET)) {
		if (f)
			fclose(f);
		return NULL;
	}
	*from = o->data;
	*to = o->data_end;
	o->data = o->data_end = (o->tables_end + 7) & ~7ULL;
	return f;
}

bool perfout_close(struct perfout *o)
{
	char link[32], now[PATH_MAX] = "";
	struct stat named, opened;
	bool ok = !o->failed;

	/* the traced program may have renamed it, as perf record does */
	if (!o->pipe && !fstat(o->fd, &opened) &&
	    (stat(o->path, &named) || named.st_dev != opened.st_dev ||
	     named.st_ino != opened.st_ino)) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", o->fd);
		if (readlink(link, now, sizeof(now) - 1) >= 0)
			warn("'%s' was renamed or replaced during the trace: the records are in %s",
			     o->path, now);
	}
	if (close(o->fd) && ok) {
		warn("cannot write '%s': %s", o->path, strerror(errno));
		ok = false;
	}
	buf_free(&o->pending);
	free(o);
	return ok;
}
