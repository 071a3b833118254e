// SPDX-License-Identifier: LGPL-2.1-or-later
#include "conform/claim_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/lib/die.h"
#include "core/lib/output.h"
#include "core/session/session.h"
#include "formats/text/text_view.h"

struct claim_trace {
	struct names names;	/* first: the hooks cast it back */
	struct steps *run;
	struct text_options options;
	struct selection selection;
	struct session session;
	struct own_calls own_calls;
	struct output *out;
	int fd;			/* that out writes to */
};

static const struct claim_trace *claim_trace_of(const struct names *n)
{
	return (const struct claim_trace *)n;
}

static const char *claim_trace_pmu(const struct names *n, uint32_t type)
{
	return host_pmu(claim_trace_of(n)->run->host, type);
}

static const char *claim_trace_tracepoint(const struct names *n, uint64_t id)
{
	return host_tracepoint(claim_trace_of(n)->run->host, id);
}

static void claim_trace_show(struct claim_trace *t, enum selected selected)
{
	for (size_t i = 0; i < CALL_COUNT; i++)
		t->selection.calls[i] = selected;
}

static void claim_trace_start(struct claim_trace *t)
{
	const struct session_setup setup = { .source = &t->names, .selection = &t->selection };
	const struct session_facts facts = { .arch = arch_native() };

	claim_trace_show(t, SELECT_ALL);
	session_start(&t->session, &setup, &facts);
	session_add_view(&t->session,
			 text_view_new(&t->options, &t->session.names, t->out, 0));
	own_calls_init(&t->own_calls, &t->session);
	session_feed(&t->session, &(struct activity){
		ACTIVITY_TASK, .task = { .tid = gettid(), .pid = getpid(), .attached = true },
	});
}

static void trace_note(struct steps *run, const char *text)
{
	const struct claim_trace *t = run->ctx;
	struct buf line = { 0 };

	buf_addf(&line, "/* %s */\n", text);
	output_write(t->out, gettid(), buf_str(&line), line.len);
	buf_free(&line);
}

/* Leave calls out of the text until unmuted; a note says so. */
static void trace_mute(struct steps *run, bool muted)
{
	struct claim_trace *t = run->ctx;

	if (muted && t->selection.calls[0] != SELECT_NONE)
		trace_note(run, "and so on");
	claim_trace_show(t, muted ? SELECT_NONE : SELECT_ALL);
}

struct claim_trace *claim_trace_new(struct steps *run)
{
	struct claim_trace *t = xcalloc(1, sizeof(*t));
	char path[32];

	*t = (struct claim_trace){
		.names = {
			.pmu = claim_trace_pmu, .tracepoint = claim_trace_tracepoint,
			.page_size = (uint32_t)sysconf(_SC_PAGESIZE),
		},
		.run = run, .fd = memfd_create("calls", MFD_CLOEXEC),
		.options = { .max_string = 64, .labels = true, .status = STATUS_ALL },
	};
	snprintf(path, sizeof(path), "/proc/self/fd/%d", t->fd);
	t->out = t->fd < 0 ? NULL : output_open(path, STDERR_FILENO, OUTPUT_ONE, CREATE_PUBLIC);
	if (!t->out) {
		free(t);
		return NULL;
	}
	claim_trace_start(t);
	run->own_calls = &t->own_calls;
	run->note = trace_note;
	run->mute = trace_mute;
	run->ctx = t;
	return t;
}

void claim_trace_end(struct claim_trace *t, char *text, size_t size)
{
	ssize_t n;

	output_flush(t->out);
	n = pread(t->fd, text, size - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	session_end(&t->session);
	output_close(t->out);
	close(t->fd);
	own_calls_free(&t->own_calls);
	free(t);
}
