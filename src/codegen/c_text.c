// SPDX-License-Identifier: LGPL-2.1-or-later
/* What stands around the steps in a program: its head, its attrs, its main(). */
#include <stdlib.h>
#include <string.h>

#include "abi/layout.h"
#include "codegen/c_writer.h"
#include "lib/die.h"
#include "xlat/constants.h"
#include "xlat/tables.h"

/* sizeof(struct perf_event_attr) where C_HEADERS come from. */
enum { HEADER_ATTR = PERF_ATTR_SIZE_VER7 };

enum { LINE = 86 };	/* bytes of a line that is filled, behind its indentation */

/* More is behind it than the struct of the headers. */
bool c_attr_larger(const struct c_program_attr *a)
{
	return a->len > HEADER_ATTR;
}

void c_text_name_attrs(struct c_program *p)
{
	struct buf name = { 0 };

	for (size_t i = 0; i < p->nattrs; i++) {
		unsigned int same = 1;

		buf_reset(&name);
		c_identifier(&name, p->attrs[i].about);
		buf_adds(&name, "_attr");
		for (size_t k = 0; k < i; k++)
			same += !strcmp(p->attrs[k].about, p->attrs[i].about);
		if (same > 1)
			buf_addf(&name, "_%u", same);
		p->attrs[i].name = xstrdup(buf_str(&name));
	}
	buf_free(&name);
}

static void put_command(struct buf *out, char *const *command)
{
	for (; command && *command; command++) {
		buf_addc(out, ' ');
		c_comment(out, *command, strlen(*command));
	}
}

static void put_title(struct writer *w)
{
	const struct c_program *p = w->p;
	struct buf *out = w->out;

	buf_adds(out, "/*\n * The perf calls of\n *\n *    ");
	put_command(out, p->command);
	buf_adds(out, "\n *\n * as pevtrace codegen read them from a trace");
	if (p->release && p->machine) {
		buf_adds(out, " (Linux ");
		c_comment(out, p->release, strlen(p->release));
		buf_adds(out, ", ");
		c_comment(out, p->machine, strlen(p->machine));
		buf_addc(out, ')');
	}
	buf_adds(out, ".\n");
	if (p->nprobes || p->nfailed)
		buf_addf(out, " * Left out: %zu probes, opened and closed unused, and %zu opens "
			 "that failed.\n", p->nprobes, p->nfailed);
	if (p->injected)
		buf_adds(out, " * Left out: calls that were injected, which the kernel did "
			 "not get.\n");
	if (p->threads > 1)
		buf_addf(out, " * %zu threads made these calls; here it is one.\n", p->threads);
	buf_adds(out, " *\n * Build: cc -Wall -Wextra -o NAME THIS_FILE.c\n * Run:   ./NAME");
	for (size_t i = 0; i < p->nothers; i++)
		buf_addf(out, " PID%s", p->nothers > 1 && !i ? "..." : "");
	if (w->nchildren)
		buf_adds(out, " COMMAND [ARGUMENT]...");
	if (p->nothers)
		buf_addf(out, "\n *        the PIDs of what is to be measured: there %s",
			 p->nothers > 1 ? "they were" : "it was");
	for (size_t i = 0; i < p->nothers; i++)
		buf_addf(out, " %d", (int)p->others[i]);
	buf_adds(out, "\n */\n");
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void put_includes(struct writer *w)
{
	struct c_needs *n = &w->p->needs;
	const struct c_parts *parts = &w->parts;
	static const char *const always[] = {
		"err.h", "linux/perf_event.h", "stdint.h", "stdio.h", "sys/syscall.h",
		"unistd.h",
	};

	for (size_t i = 0; i < sizeof(always) / sizeof(*always); i++)
		c_need_header(n, always[i]);
	if (parts->bits || parts->records)
		c_need_header(n, "string.h");
	if (parts->children) {
		c_need_header(n, "fcntl.h");
		c_need_header(n, "signal.h");
		c_need_header(n, "sys/wait.h");
	}
	if (parts->watches || parts->children > 1)
		c_need_header(n, "stdbool.h");
	if (parts->until_signal || parts->handler)
		c_need_header(n, "signal.h");
	if (parts->rings) {
		c_need_header(n, "poll.h");
		c_need_header(n, "sys/mman.h");
	}
	if (w->p->nothers || w->p->epoll)
		c_need_header(n, "stdlib.h");
	if (w->p->epoll)
		c_need_header(n, "sys/epoll.h");
	qsort(n->headers, n->nheaders, sizeof(*n->headers), by_text);
	buf_adds(w->out, "#define _GNU_SOURCE\n");
	for (size_t i = 0; i < n->nheaders; i++)
		buf_addf(w->out, "#include <%s>\n", n->headers[i]);
	buf_addc(w->out, '\n');
	for (size_t i = 0; i < n->ndefines; i++) {
		const struct xlat_entry *e = n->defines[i];

		buf_addf(w->out, "#ifndef %s /* since Linux %u.%u */\n#define %s 0x%llx\n"
			 "#endif\n", e->name, e->since >> 16, e->since >> 8 & 0xff, e->name,
			 (unsigned long long)e->value);
	}
	if (n->ndefines)
		buf_addc(w->out, '\n');
}

/* A member is explained once, but for the event itself. */
static void put_members(struct writer *w, const struct c_attr *a)
{
	size_t line = 0;	/* where one begins that goes on */

	for (size_t i = 0; i < a->nmembers; i++) {
		const struct c_member *m = &a->members[i];
		bool say = *m->comment && c_say(w, "member", m->comment);

		if (line && !say && w->out->len - line + strlen(m->line) <= LINE) {
			w->out->len--; /* the end of the line */
			buf_addf(w->out, " %s\n", m->line + 1);
			continue;
		}
		line = say ? 0 : w->out->len;
		c_member_write(w->out, m, say);
	}
}

static void put_attrs(struct writer *w)
{
	for (size_t i = 0; i < w->p->nattrs; i++) {
		const struct c_program_attr *a = &w->p->attrs[i];

		if (!a->used)
			continue;
		if (c_attr_larger(a)) /* the bytes that the kernel reads behind it must be there */
			buf_addf(w->out, "static union {\n	struct perf_event_attr attr;\n"
				 "	unsigned char bytes[%zu];\n} %s = { .attr = {\n",
				 a->source.size, a->name);
		else
			buf_addf(w->out, "static struct perf_event_attr %s = {\n", a->name);
		put_members(w, &a->source);
		buf_adds(w->out, c_attr_larger(a) ? "} };\n\n" : "};\n\n");
	}
}

/* The last event whose name is printed, with its count. */
static size_t last_read(const struct c_program *p)
{
	size_t last = 0;

	for (size_t i = 0; i < p->nsteps; i++) {
		const struct c_step *s = &p->steps[i];

		if (s->kind != STEP_READ || !c_step_kept(p, s))
			continue;
		for (size_t k = 0; k < p->nevents; k++)
			if (k > last && ((int)k == s->events[0] ||
					 p->events[k].leader == s->events[0]))
				last = k;
	}
	return last;
}

static void put_names(struct writer *w)
{
	const struct c_program *p = w->p;
	size_t last = last_read(p), line = w->out->len;
	struct buf name = { 0 };

	buf_adds(w->out, "static const char *const names[] = {");
	for (size_t i = 0; i <= last; i++) {
		if (!p->events[i].chosen || p->events[i].failed)
			continue;
		buf_reset(&name);
		c_string(&name, p->events[i].name, strlen(p->events[i].name));
		if (w->out->len - line + name.len > LINE) {
			buf_adds(w->out, "\n	");
			line = w->out->len;
		}
		buf_addf(w->out, " %s,", buf_str(&name));
	}
	buf_adds(w->out, " };\n");
	buf_free(&name);
}

static void put_tables(struct writer *w)
{
	struct buf *out = w->out;

	buf_addf(out, "enum { EVENTS = %d", w->nevents);
	if (w->nrings)
		buf_addf(out, ", RINGS = %d", w->nrings);
	if (w->nchildren > 1)
		buf_addf(out, ", CHILDREN = %d", w->nchildren);
	buf_adds(out, " };\n");
	if (w->nevents)
		buf_adds(out, "static int fd[EVENTS];\n");
	if (w->parts.reads)
		put_names(w);
	buf_addc(out, '\n');
}

/* Which function takes the records of which ring, where that is not one for all. */
void c_text_drain_table(const struct writer *w, struct buf *out)
{
	const char *before = "";

	if (!c_parts_mixed(&w->parts))
		return;
	buf_adds(out, "static void (*const drains[RINGS])(int) = { ");
	for (size_t i = 0; i < w->p->nrings; i++) {
		if (!w->p->rings[i].chosen)
			continue;
		buf_addf(out, "%s%s", before, c_drain_name(w->p->rings[i].drain));
		before = ", ";
	}
	buf_adds(out, " };\n\n");
}

/* What a program must set at run time: strings, and bits without a member. */
static void put_fixes(struct writer *w)
{
	for (size_t i = 0; i < w->p->nattrs; i++) {
		const struct c_program_attr *a = &w->p->attrs[i];
		const struct c_attr *s = &a->source;
		bool said = false;

		for (size_t k = 0; a->used && k < s->nstrings; k++)
			buf_addf(w->out, "	%s%s.%s = (uintptr_t)%s;\n", a->name,
				 c_attr_larger(a) ? ".attr" : "", s->string_member[k],
				 buf_str(&s->string_value[k]));
		for (size_t at = 0; a->used && at < s->size; at += 8) {
			uint64_t word = load_uint(s->rest + at, 8);

			if (!word)
				continue;
			if (!said && s->unnamed.len)
				buf_addf(w->out, "	/* %s */\n", buf_str(&s->unnamed));
			said = true;
			buf_addf(w->out, "	add_bits(&%s, %zu, 0x%llxULL);\n", a->name, at,
				 (unsigned long long)word);
		}
	}
}

bool c_text_needs_bits(const struct c_program *p)
{
	for (size_t i = 0; i < p->nattrs; i++)
		for (size_t k = 0; p->attrs[i].used && k < p->attrs[i].source.size; k++)
			if (p->attrs[i].source.rest[k])
				return true;
	return false;
}

static void put_arguments(struct writer *w)
{
	size_t others = w->p->nothers, least = others + (w->nchildren ? 1 : 0);
	struct buf *out = w->out;

	buf_addf(out, "int main(%s)\n{\n", least ? "int argc, char **argv" : "void");
	if (others)
		buf_addf(out, "	pid_t other[%zu];\n", others);
	if (w->nchildren > 1)
		buf_adds(out, "	pid_t child[CHILDREN];\n	int go[CHILDREN];\n");
	if (w->p->epoll)
		buf_adds(out, "	int epoll = (int)MUST(epoll_create1(EPOLL_CLOEXEC));\n");
	if (others || w->nchildren > 1 || w->p->epoll)
		buf_addc(out, '\n');
	if (least)
		buf_addf(out, "	if (argc < %zu)\n"
			 "		errx(2, \"usage: %%s%s%s\", argv[0]);\n", least + 1,
			 others ? others > 1 ? " PID..." : " PID" : "",
			 w->nchildren ? " COMMAND [ARGUMENT]..." : "");
	if (others)
		buf_addf(out, "	for (int i = 0; i < %zu; i++) {\n"
			 "		other[i] = (pid_t)atoi(argv[i + 1]);\n"
			 "		if (other[i] <= 0)\n"
			 "			errx(2, \"'%%s' is no PID\", argv[i + 1]);\n"
			 "	}\n", others);
}

static void put_signals(struct writer *w)
{
	struct buf *out = w->out;

	if (w->parts.handler)
		buf_adds(out, "	for (int i = SIGRTMIN; i <= SIGRTMAX; i++)\n"
			 "		signal(i, ignore);\n"
			 "	signal(SIGIO, ignore);\n	signal(SIGTRAP, ignore);\n"
			 "	signal(SIGUSR1, ignore);\n	signal(SIGUSR2, ignore);\n");
	if (w->parts.until_signal)
		buf_adds(out, "	signal(SIGINT, interrupt);\n"
			 "	signal(SIGTERM, interrupt);\n");
	if (w->nchildren == 1)
		buf_addf(out, "	int go;\n	pid_t child = start_child(argv + %zu, &go);\n",
			 w->p->nothers + 1);
	else if (w->nchildren)
		buf_addf(out, "	for (int i = 0; i < CHILDREN; i++)\n"
			 "		child[i] = start_child(argv + %zu, &go[i]);\n",
			 w->p->nothers + 1);
	if (w->nchildren)
		buf_adds(out, "	signal(SIGINT, SIG_IGN); /* ^C is for the command */\n");
}

void c_text_main(struct writer *w)
{
	put_arguments(w);
	put_fixes(w);
	put_signals(w);
	c_lines_write(w);
	if (w->parts.records)
		buf_adds(w->out, "	fprintf(stderr, \"%18llu samples, %llu other records, "
			 "%llu lost\\n\", samples, others, lost);\n");
	if (w->parts.drains[DRAIN_OVERWRITTEN] || w->parts.drains[DRAIN_BACKWARD])
		buf_adds(w->out, "	fprintf(stderr, \"%18llu bytes overwritten "
			 "before they were read\\n\", overrun);\n");
	if (w->parts.drains[DRAIN_AUX])
		buf_adds(w->out, "	fprintf(stderr, \"%18llu bytes in AUX areas\\n\", "
			 "aux_bytes);\n");
	if (w->nchildren)
		buf_adds(w->out, "	return WIFEXITED(status) ? WEXITSTATUS(status) : "
			 "128 + WTERMSIG(status);\n}\n");
	else
		buf_adds(w->out, "	return 0;\n}\n");
}

void c_text_top(struct writer *w)
{
	put_title(w);
	put_includes(w);
	put_attrs(w);
	put_tables(w);
}
