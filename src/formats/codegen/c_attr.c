// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/tables.h"
#include "formats/codegen/c_attr.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/abi/attr.h"
#include "core/lib/die.h"

/* The maximum line length, with tabs of 8. */
enum { COLUMNS = 100 };

struct attr_sink {
	struct sink sink;
	struct c_attr *attr;
	struct c_needs *needs;
	unsigned int depth;
	/* the current member: notes about it may follow */
	const struct field *field;
	struct buf value, comment;
	bool unnamed, portable;
	uint64_t type;		/* once its member was written; 0: a dynamic PMU's, or hardware */
};

static size_t columns(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n = *text == '\t' ? (n | 7) + 1 : n + 1;
	return n;
}

/* Append a value, with line breaks after "|". */
static void add_wrapped(struct buf *line, const char *value)
{
	size_t at = columns(buf_str(line));
	const char *bar;

	while ((bar = strstr(value, " | "))) {
		size_t n = (size_t)(bar - value) + 2, next = strcspn(bar + 3, " ");

		buf_add(line, value, n);
		at += n + 1;
		value = bar + 3;
		if (at + next + 2 > COLUMNS) {
			buf_adds(line, "\n\t\t");
			at = 16;
		} else {
			buf_addc(line, ' ');
		}
	}
	buf_adds(line, value);
}

/* The comment follows the line if there is room, else precedes it. */
void c_member_write(struct buf *out, const struct c_member *m, bool comment)
{
	size_t width = columns(m->line), more = strlen(m->comment) + strlen("/*  */");
	const char *gap = width < 24 ? "\t\t" : "\t";
	bool behind = width + 1 + more <= COLUMNS && !strchr(m->line, '\n');

	if (!comment || !*m->comment)
		buf_addf(out, "%s\n", m->line);
	else if (!behind)
		buf_addf(out, "\t/* %s */\n%s\n", m->comment, m->line);
	else
		buf_addf(out, "%s%s/* %s */\n", m->line, width < 32 && 32 + more <= COLUMNS ?
			 gap : " ", m->comment);
}

static void flush_member(struct attr_sink *a)
{
	struct c_attr *attr = a->attr;
	struct buf line = { 0 };

	if (a->field && !a->unnamed) {
		struct c_member *members = xrealloc(attr->members,
						    (attr->nmembers + 1) * sizeof(*members));
		char *comment = xstrdup(buf_str(&a->comment));

		buf_addf(&line, "\t.%s = ", a->field->name);
		add_wrapped(&line, buf_str(&a->value));
		buf_addc(&line, ',');
		attr->members = members ? members : attr->members;
		attr->failed |= line.failed || a->value.failed || a->comment.failed;
		if (members && line.data && comment) {
			members[attr->nmembers++] = (struct c_member){ line.data, comment };
		} else {
			attr->failed = true;
			buf_free(&line);
			free(comment);
		}
	}
	a->field = NULL;
	buf_reset(&a->value);
	buf_reset(&a->comment);
}

/*
 * Begin a member and return where to write its value; NULL if C_HEADERS do not have it.
 * Reserved bits have names, but at other offsets in other headers.
 */
static struct buf *begin_member(struct attr_sink *a, const char *key)
{
	const struct field *f = key && a->depth == 1 ? attr_member(key, strlen(key)) : NULL;

	flush_member(a);
	if (!f)
		return NULL;
	a->field = f;
	a->unnamed = f->since > C_HEADERS || f->kind == FIELD_RESERVED;
	if (a->unnamed) {
		buf_addf(&a->attr->unnamed, "%s%s", a->attr->unnamed.len ? ", " : "", key);
		return NULL;
	}
	field_clear(f, a->attr->rest, a->attr->size);
	if (*f->meaning)
		c_comment(&a->comment, f->meaning, strlen(f->meaning));
	return &a->value;
}

static void add_packed(struct buf *out, struct c_needs *n, const struct sink_part *parts,
		       size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *name = c_constant(n, parts[i].xlat, parts[i].value);

		buf_adds(out, i ? " | " : "");
		if (parts[i].shift)
			buf_adds(out, parts[i].shift >= 31 ? "(uint64_t)" : "(");
		if (name)
			buf_adds(out, name);
		else
			buf_addx(out, parts[i].value);
		if (parts[i].shift)
			buf_addf(out, " << %u%s", parts[i].shift,
				 parts[i].shift >= 31 ? "" : ")");
	}
}

/* Replace the member's meaning by that of its value, which says more. */
static void comment_value(struct attr_sink *a, const struct xlat *x, uint64_t v)
{
	const struct xlat_entry *e = xlat_find(x, v);

	if (!e || !*e->meaning)
		return;
	buf_reset(&a->comment);
	c_comment(&a->comment, e->meaning, strlen(e->meaning));
}

static void attr_begin(struct sink *s, const char *key, enum sink_shape shape)
{
	struct attr_sink *a = sink_self(s);

	(void)key, (void)shape;
	flush_member(a);
	a->depth++;
}

static void attr_end(struct sink *s)
{
	struct attr_sink *a = sink_self(s);

	flush_member(a);
	a->depth--;
}

/* Return where to write the value that main() gives the current member, or NULL. */
static struct c_set *set_later(struct attr_sink *a)
{
	struct c_attr *attr = a->attr;
	struct c_set *set = &attr->sets[attr->nsets];

	if (attr->nsets == sizeof(attr->sets) / sizeof(*attr->sets))
		return NULL;
	attr->nsets++;
	set->member = a->field->name;
	a->unnamed = true;	/* no line in the initializer */
	return set;
}

/*
 * Ids of tracepoints and types of PMUs are numbers of one machine: let the program read them
 * there.  Return false if the note names neither.
 */
static bool number_later(struct attr_sink *a, const char *key, const char *text)
{
	const char *colon = strchr(text, ':');
	bool pmu = !strcmp(key, "pmu") && a->field == &layout_perf_event_attr.fields[ATTR_TYPE];
	bool tracepoint = !strcmp(key, "event") && a->type == PERF_TYPE_TRACEPOINT && colon &&
			  a->field == &layout_perf_event_attr.fields[ATTR_CONFIG];
	struct buf path = { 0 };
	struct c_set *set;

	if ((!pmu && !tracepoint) || text[strcspn(text, "\"\\/ ")] || !(set = set_later(a)))
		return false;
	if (pmu)
		buf_addf(&path, "/sys/bus/event_source/devices/%s/type", text);
	else
		buf_addf(&path, "/sys/kernel/tracing/events/%.*s/%s/id", (int)(colon - text), text,
			 colon + 1);
	buf_adds(&set->value, pmu ? "(uint32_t)number_in(" : "number_in(");
	c_string(&set->value, buf_str(&path), path.len); /* a name in a dump may have any bytes */
	buf_addc(&set->value, ')');
	buf_free(&path);
	a->attr->numbers = true;
	c_need_header(a->needs, "stdio.h");
	return true;
}

static void attr_value(struct sink *s, const char *key, const struct value *v)
{
	struct attr_sink *a = sink_self(s);
	struct buf *out = begin_member(a, key);
	struct c_set *set;

	if (!out)
		return;
	switch (v->kind) {
	case VALUE_UINT:
		c_add_number(out, v->number);
		break;
	case VALUE_SINT:
	case VALUE_FD:
		buf_addf(out, "%" PRId64, (int64_t)v->number);
		break;
	case VALUE_HEX:
	case VALUE_ADDR:
		c_add_hex(out, v->number);
		break;
	case VALUE_ENUM:
		c_add_enum(out, a->needs, v->xlat, v->number);
		comment_value(a, v->xlat, v->number);
		if (a->field == &layout_perf_event_attr.fields[ATTR_TYPE])
			a->type = v->number;
		break;
	case VALUE_FLAGS:
		c_add_flags(out, a->needs, v->xlat, v->number);
		if (v->number && !(v->number & (v->number - 1)))
			comment_value(a, v->xlat, v->number);
		break;
	case VALUE_PACKED:
		add_packed(out, a->needs, v->parts, v->len);
		break;
	case VALUE_STRING:
		/* a static initializer cannot convert an address to an integer: main() sets it */
		set = set_later(a);
		if (!set)
			break;
		buf_adds(&set->value, "(uintptr_t)");
		c_string(&set->value, v->text, v->len);
		break;
	case VALUE_SYMBOL:	/* no member is one */
	case VALUE_BYTES:	/* unknown ones are in rest */
		break;
	}
}

static void attr_note(struct sink *s, const char *key, const char *text)
{
	struct attr_sink *a = sink_self(s);

	if (!a->field || (a->portable && !a->unnamed && number_later(a, key, text)))
		return;
	if (!strcmp(key, "event") || !strcmp(key, "pmu"))
		buf_reset(&a->comment); /* the name of the event says more */
	if (a->comment.len)
		buf_adds(&a->comment, "; ");
	c_comment(&a->comment, text, strlen(text));
}

static const struct sink_ops attr_ops = {
	.begin = attr_begin, .end = attr_end, .value = attr_value, .note = attr_note,
};

bool c_attr_make(struct c_attr *a, const struct call *c, uint64_t addr,
		 const struct names *names, bool portable, struct c_needs *needs)
{
	struct attr_sink s = {
		.sink = { .ops = &attr_ops, .max_string = SIZE_MAX }, .attr = a,
		.needs = needs, .portable = portable,
	};
	size_t len, known = layout_perf_event_attr.size;
	const uint8_t *bytes = call_bytes(c, AT_SYSCALL_ENTER, addr, ATTR_MAX_SIZE, &len);

	*a = (struct c_attr){ 0 };
	if (!bytes || len < 8)
		return false;
	a->size = ((len > known ? len : known) + 7) & ~(size_t)7;
	a->rest = xcalloc(1, a->size);
	if (!a->rest) {
		a->failed = true;
		return false;
	}
	memcpy(a->rest, bytes, len);
	attr_emit(c, AT_SYSCALL_ENTER, "attr", addr, names, &s.sink);
	flush_member(&s);
	a->failed |= needs->failed || a->unnamed.failed;
	for (size_t i = 0; i < a->nsets; i++)
		a->failed |= a->sets[i].value.failed;
	buf_free(&s.value);
	buf_free(&s.comment);
	return true;
}

bool c_attr_same_sets(const struct c_attr *a, const struct c_attr *b)
{
	if (a->nsets != b->nsets)
		return false;
	for (size_t i = 0; i < a->nsets; i++)
		if (strcmp(buf_str(&a->sets[i].value), buf_str(&b->sets[i].value)))
			return false;
	return true;
}

void c_attr_free(struct c_attr *a)
{
	for (size_t i = 0; i < a->nmembers; i++) {
		free(a->members[i].line);
		free(a->members[i].comment);
	}
	free(a->members);
	buf_free(&a->unnamed);
	for (size_t i = 0; i < a->nsets; i++)
		buf_free(&a->sets[i].value);
	free(a->rest);
}

int c_attr_write(struct buf *out, const struct call *c, uint64_t addr, const struct names *names)
{
	struct c_needs needs = { 0 };
	struct c_attr a;
	bool made = c_attr_make(&a, c, addr, names, false, &needs);
	int failed = a.failed ? -ENOMEM : made ? 0 : -EINVAL;

	for (size_t i = 0; !failed && i < needs.ndefines; i++)
		buf_addf(out, "#ifndef %s\n#define %s 0x%llx\n#endif\n", needs.defines[i]->name,
			 needs.defines[i]->name, (unsigned long long)needs.defines[i]->value);
	if (!failed) {
		buf_adds(out, "struct perf_event_attr attr = {\n");
		for (size_t i = 0; i < a.nmembers; i++)
			c_member_write(out, &a.members[i], true);
		buf_adds(out, "};\n");
		for (size_t i = 0; i < a.nsets; i++)
			buf_addf(out, "attr.%s = %s;\n", a.sets[i].member,
				 buf_str(&a.sets[i].value));
		if (a.unnamed.len)
			buf_addf(out, "/* %s */\n", buf_str(&a.unnamed));
		/* members that are newer than the headers are bits in words of 8 bytes */
		for (size_t at = 0; at + 8 <= a.size; at += 8) {
			uint64_t word = load_uint(a.rest + at, 8);

			if (word)
				buf_addf(out, "((uint64_t *)&attr)[%zu] |= 0x%llxULL;\n", at / 8,
					 (unsigned long long)word);
		}
	}
	c_attr_free(&a);
	c_needs_free(&needs);
	return failed;
}
