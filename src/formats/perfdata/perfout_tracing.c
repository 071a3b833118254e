// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The formats of tracepoints in a perf.data file: the start of a file of trace-cmd
 * (Documentation/trace-cmd/trace-cmd.dat.v6.5.txt of libtracecmd).
 */
#include <stdlib.h>
#include <string.h>

#include "core/abi/layout.h"
#include "core/lib/die.h"
#include "formats/perfdata/perfout_internal.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

static void add_terminated(struct buf *b, const char *text)
{
	buf_add(b, text, strlen(text) + 1);
}

/* Append a format with its length. */
static void add_sized(struct buf *b, const char *text)
{
	buf_add_u64(b, strlen(text));
	buf_add(b, text, strlen(text));
}

bool perfout_is_tracepoint(const struct perfout_event *e)
{
	return strchr(e->name, ':') && perfout_attr_of(e, ATTR_TYPE) == PERF_TYPE_TRACEPOINT;
}

void perfout_read_format(const struct perfout_view *v, struct perfout_event *e)
{
	const char *text = NULL;

	if (e->format_text || !perfout_is_tracepoint(e))
		return;
	if (v->names->format)
		text = v->names->format(v->names, perfout_attr_of(e, ATTR_CONFIG));
	if (text)
		e->format_text = xstrdup(text);
}

/* Append the format; if it is not known, what all have in common: perf refuses a file without. */
static void perfout_add_format(const struct perfout_event *e, struct buf *out)
{
	const char *name = strchr(e->name, ':') + 1;
	struct buf text = { 0 };

	buf_addf(&text, "name: %.*s\nID: %llu\nformat:\n"
		 "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		 "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		 "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		 "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
		 "\n\nprint fmt: \"\"\n", (int)strcspn(name, ":"), name,
		 (unsigned long long)perfout_attr_of(e, ATTR_CONFIG));
	add_sized(out, e->format_text ? e->format_text : buf_str(&text));
	buf_free(&text);
}

/* Return whether both are tracepoints of the same system, "system:name". */
static bool same_system(const struct perfout_event *a, const struct perfout_event *b)
{
	size_t len = strcspn(a->name, ":");

	return perfout_is_tracepoint(a) && perfout_is_tracepoint(b) &&
	       strcspn(b->name, ":") == len && !memcmp(a->name, b->name, len);
}

/* Append the formats of the events of one system, from the first one on. */
static void perfout_add_system(const struct perfout_view *v, size_t first, struct buf *out)
{
	const struct perfout_event *e = v->events[first];
	struct buf texts = { 0 };
	uint32_t n = 0;

	for (size_t i = first; i < v->nevents; i++) {
		if (!same_system(e, v->events[i]))
			continue;
		perfout_add_format(v->events[i], &texts);
		n++;
	}
	buf_add(out, e->name, strcspn(e->name, ":"));
	buf_addc(out, '\0');
	buf_add_u32(out, n);
	buf_add(out, texts.data, texts.len);
	buf_free(&texts);
}

/* Append the systems, each at its first event; return how many they are. */
static uint32_t perfout_add_systems(const struct perfout_view *v, struct buf *out)
{
	uint32_t n = 0;

	for (size_t i = 0; i < v->nevents; i++)
		perfout_read_format(v, v->events[i]);
	for (size_t i = 0; i < v->nevents; i++) {
		size_t k = 0;

		while (k < i && !same_system(v->events[k], v->events[i]))
			k++;
		if (k < i || !perfout_is_tracepoint(v->events[i]))
			continue;
		perfout_add_system(v, i, out);
		n++;
	}
	return n;
}

/*
 * Append the formats of a page of ftrace's buffer and of an entry there.  A perf.data file has
 * neither, but perf refuses empty ones.
 */
static void perfout_add_pages(const struct perfout_view *v, struct buf *out)
{
	unsigned int word = v->facts.arch->word, head = 8 + word;
	struct buf page = { 0 };

	buf_addf(&page,
		 "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		 "\tfield: local_t commit;\toffset:8;\tsize:%u;\tsigned:1;\n"
		 "\tfield: char data;\toffset:%u;\tsize:%u;\tsigned:0;\n",
		 word, head, v->facts.page_size - head);
	add_terminated(out, "header_page");
	add_sized(out, buf_str(&page));
	add_terminated(out, "header_event");
	add_sized(out, "\ttype_len : 5 bits\n");
	buf_free(&page);
}

void perfout_tracing(const struct perfout_view *v, struct buf *out)
{
	struct buf systems = { 0 };
	uint32_t n = perfout_add_systems(v, &systems);

	if (n) {
		buf_add(out, "\x17\x08\x44tracing", 10);
		add_terminated(out, "0.6");
		buf_addc(out, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
		buf_addc(out, (char)v->facts.arch->word);
		buf_add_u32(out, v->facts.page_size);
		perfout_add_pages(v, out);
		buf_add_u32(out, 0); /* events of ftrace */
		buf_add_u32(out, n);
		buf_add(out, systems.data, systems.len);
		buf_add_u32(out, 0); /* kallsyms */
		buf_add_u32(out, 0); /* formats of printk */
		buf_add_u64(out, 0); /* names of tasks */
	}
	buf_free(&systems);
}
