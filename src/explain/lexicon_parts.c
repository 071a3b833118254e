// SPDX-License-Identifier: LGPL-2.1-or-later
/* Parts of dictionary entries: heading, release, users of a table, manual section. */
#include <stdio.h>
#include <string.h>

#include "explain/lexicon_internal.h"
#include "xlat/tables.h"

enum { NAMES_MAX = 16 };	/* listed for a table outside its own entry */

void entry_label(struct prose *p, const char *what)
{
	prose_line(p, ENTRY_LABEL, ENTRY_BODY);
	prose_addf(p, "%s: ", what);
}

void entry_release(struct prose *p, uint32_t since)
{
	struct buf text = { 0 };

	release_text(since, &text);
	prose_addf(p, "Linux %s", buf_str(&text));
	buf_free(&text);
}

void entry_since(struct prose *p, uint32_t since)
{
	if (!since)
		return;
	entry_label(p, "Since");
	entry_release(p, release_mainline(since));
	if (release_mainline(since) != since) {
		prose_adds(p, ", brought to ");
		entry_release(p, since);
	}
	prose_adds(p, ".");
}

void entry_layout(struct prose *p, const struct layout *l)
{
	if (l->part)
		prose_addf(p, "%.*s", (int)strcspn(l->part, ","), l->part);
	else
		prose_adds(p, l->name);
}

void entry_head(struct prose *p, const struct lexicon_entry *e, const char *what)
{
	prose_para(p);
	if (e->kind == LEXICON_MEMBER) {
		entry_layout(p, e->layout);
		prose_adds(p, ".");
	}
	prose_addf(p, "%s: %s", e->name, what);
}

void entry_meaning(struct prose *p, const char *meaning)
{
	prose_line(p, ENTRY_LABEL, ENTRY_LABEL);
	prose_addf(p, "%s.", meaning);
}

void entry_term(struct prose *p, const char *name)
{
	const struct term_desc *t = term_by_name(name);

	if (!t)
		return;
	prose_addf(p, " %s.", t->text);
	if (!*t->steps)
		return;
	entry_label(p, "In the kernel");
	for (const char *s = t->steps; *s;) {
		char step[32];
		size_t n = strcspn(s, ",");
		bool first = true;

		snprintf(step, sizeof(step), "%.*s", (int)n, s);
		prose_adds(p, s == t->steps ? "" : "; ");
		for (const struct step_desc *d = step_by_name(step);
		     d && d->step && !strcmp(d->step, step); d++) {
			prose_addf(p, "%s%s", first ? "" : ", ", d->function);
			first = false;
		}
		s += n + (s[n] == ',');
	}
	prose_adds(p, ".");
}

/* Where a table's names are used ---------------------------------------------------- */

void entry_users(struct prose *p, const struct xlat *x)
{
	size_t n = 0;

	for (size_t l = 0; layouts[l]; l++)
		for (size_t i = 0; i < layouts[l]->n; i++)
			if (layouts[l]->fields[i].xlat == x) {
				if (!n++)
					entry_label(p, "Used in");
				else
					prose_adds(p, ", ");
				entry_layout(p, layouts[l]);
				prose_addf(p, ".%s", layouts[l]->fields[i].name);
			}
	for (size_t c = 0; c < CALL_COUNT; c++)
		for (unsigned int i = 0; i < call_descs[c].nargs; i++)
			if (call_descs[c].args[i].xlat == x) {
				if (!n++)
					entry_label(p, "Used in");
				else
					prose_adds(p, ", ");
				prose_addf(p, "%s of %s()", call_descs[c].args[i].name,
					   call_descs[c].name);
			}
	if (n)
		prose_adds(p, ".");
}

void entry_names(struct prose *p, const struct xlat *x)
{
	size_t n = 0;

	entry_label(p, "Names");
	for (size_t i = 0; i < x->n; i++) {
		if (x->entries[i].traits)
			continue;
		if (n++ == NAMES_MAX)
			break;
		prose_addf(p, "%s%s", n > 1 ? ", " : "", x->entries[i].name);
	}
	prose_addf(p, "%s", n > NAMES_MAX ? " and more." : ".");
	if (n > NAMES_MAX && lexicon_table_name(x))
		prose_addf(p, " pevtrace explain %s lists them.", lexicon_table_name(x));
}

void entry_members(struct prose *p, const char *constant)
{
	size_t n = 0;

	for (size_t l = 0; layouts[l]; l++)
		for (size_t i = 0; i < layouts[l]->n; i++) {
			if (!layouts[l]->part || !lexicon_listed(layouts[l]->part, constant))
				continue;
			if (!n++)
				entry_label(p, "Members");
			prose_line(p, ENTRY_BODY, ENTRY_BODY);
			prose_addf(p, "%s: %s.", layouts[l]->fields[i].name,
				   layouts[l]->fields[i].meaning);
		}
}

/* The manual ------------------------------------------------------------------------ */

void entry_manual(struct prose *p, const char *page, const char *part)
{
	entry_label(p, "Manual");
	prose_page(p, page, part);
	prose_adds(p, ".");
}

void entry_manual_of_layout(struct prose *p, const struct layout *l)
{
	static const struct {
		const char *layout, *page, *part;
	} pages[] = {
		{ "perf_event_attr", "perf_event_open(2)", "Arguments" },
		{ "perf_event_query_bpf", "perf_event_open(2)", "perf_event ioctl calls" },
		{ "pollfd", "poll(2)", NULL }, { "clone_args", "clone(2)", NULL },
		{ "f_owner_ex", "fcntl(2)", NULL },
		{ "bpf_obj_pin", "bpf(2)", NULL }, { "bpf_task_fd_query", "bpf(2)", NULL },
		{ "bpf_link_create", "bpf(2)", NULL }, { "bpf_link_update", "bpf(2)", NULL },
		{ "bpf_link_detach", "bpf(2)", NULL },
		{ "perf_auxtrace", "pevtrace-decode(1)", NULL },
		{ "perf_auxtrace_info", "pevtrace-decode(1)", NULL },
		{ "perf_file_header", "pevtrace-decode(1)", NULL },
		{ "perf_file_section", "pevtrace-decode(1)", NULL },
	};

	for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++)
		if (!strcmp(l->name, pages[i].layout)) {
			entry_manual(p, pages[i].page, pages[i].part);
			return;
		}
	entry_manual(p, "perf_event_open(2)", "MMAP layout");
}

/* Return the first structure with a member of the table. */
static const struct layout *user_of(const struct xlat *x)
{
	for (size_t l = 0; layouts[l]; l++)
		for (size_t i = 0; i < layouts[l]->n; i++)
			if (layouts[l]->fields[i].xlat == x)
				return layouts[l];
	return NULL;
}

void entry_manual_of_table(struct prose *p, const struct xlat *x)
{
	static const struct {
		const char *header, *page;
	} pages[] = {
		{ "sys/mman.h", "mmap(2)" }, { "poll.h", "poll(2)" },
		{ "sys/epoll.h", "epoll_ctl(2)" }, { "sched.h", "clone(2)" },
		{ "fcntl.h", "fcntl(2)" }, { "sys/prctl.h", "prctl(2)" },
		{ "linux/fs.h", "readv(2)" }, { "signal.h", "sigaction(2)" },
		{ "sys/ptrace.h", "ptrace(2)" }, { "time.h", "clock_getres(2)" },
		{ "linux/close_range.h", "close_range(2)" }, { "linux/bpf.h", "bpf(2)" },
		{ "linux/errno.h", "errno(3)" },
	};

	for (size_t i = 0; x->header && i < sizeof(pages) / sizeof(*pages); i++)
		if (!strcmp(x->header, pages[i].header)) {
			entry_manual(p, pages[i].page, NULL);
			return;
		}
	if (x == &xlat_perf_open_errno)
		entry_manual(p, "perf_event_open(2)", "ERRORS");
	else if (user_of(x))
		entry_manual_of_layout(p, user_of(x));
	else if (x->header)
		entry_manual(p, "perf_event_open(2)", NULL);
	else if (x == &xlat_rule_by || x == &xlat_pmu_trait)
		entry_manual(p, "pevtrace-why(1)", NULL);
	else
		entry_manual(p, "pevtrace-decode(1)", NULL);
}
