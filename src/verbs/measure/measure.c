// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/tables.h"
#include "verbs/measure/measure.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/host/proc.h"
#include "core/host/symbols.h"
#include "core/lib/clock.h"
#include "core/lib/die.h"
#include "engine/rings/writer.h"
#include "formats/perfdata/measured.h"
#include "verbs/measure/refusal.h"

/* Rings and their records ------------------------------------------------------------ */

/*
 * A record becomes visible a little after its time: hold younger records back, as an
 * older one may still appear in another ring.
 */
enum { SETTLE_NS = 1000000 };

/* Flags of PERF_RECORD_AUX for data that were lost. */
#define CUT (PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL | PERF_AUX_FLAG_COLLISION)

static size_t ring_index(const struct measure *m, const struct stream_ring *r)
{
	return (size_t)(r - m->stream.rings);
}

static void on_aux(void *ctx, const struct stream_ring *r, const struct aux_result *result)
{
	struct measure *m = ctx;

	(void)r;
	m->aux_bytes += result->bytes;
	m->aux_cut += result->missed || result->odd_head;
}

static void on_aux_piece(void *ctx, const struct stream_ring *r, const uint8_t *bytes, size_t len,
			 uint64_t position)
{
	struct measure *m = ctx;

	if (m->own_session.options.perf_data)
		session_feed(&m->own_session.session, &(struct activity){
			ACTIVITY_AUX, .aux = {
				.tid = gettid(), .ns = clock_ns(),
				.ring = m->rings[ring_index(m, r)], .position = position,
				.bytes = bytes, .len = len,
			},
		});
}

static void rings_on_record(void *ctx, const struct stream_ring *from, const uint8_t *bytes,
			    size_t len)
{
	struct measure *m = ctx;
	struct session *s = &m->own_session.session;
	struct ring *ring = m->rings[ring_index(m, from)];
	struct record_format format;
	struct activity a = { .kind = ACTIVITY_RECORD };
	uint32_t type = (uint32_t)load_uint(bytes, 4); /* the first member of the header */

	if (type == PERF_RECORD_AUX)
		m->aux_cut += (layout_get(&layout_perf_record_aux, PERF_RECORD_AUX_FLAGS, bytes,
					  len) & CUT) != 0;
	if (m->wanted && !m->wanted(m, type))
		return;
	writer_find(s->model, ring, bytes, len, &format, &a.record);
	if (m->own_session.machine.symbols)
		symbols_record(m->own_session.machine.symbols, bytes, len);
	a.record.tid = gettid();
	a.record.ns = clock_ns();
	session_feed(s, &a);
}

static void on_looked(void *ctx, const struct stream_ring *from,
		      const struct ring_result *result)
{
	struct measure *m = ctx;

	session_feed(&m->own_session.session, &(struct activity){
		ACTIVITY_LOOK, .look = {
			.tid = gettid(), .ns = clock_ns(),
			.ring = m->rings[ring_index(m, from)], .page = result->page.bytes,
			.page_len = sizeof(result->page.bytes),
			.missed = result->missed, .torn = result->torn,
		},
	});
}

static const struct stream_ops stream_ops = {
	.record = rings_on_record, .looked = on_looked, .aux = on_aux,
	.aux_piece = on_aux_piece,
};

/*
 * Records of several rings can be sorted if all have a time of one clock, which pevtrace can
 * read, at the same offset.
 */
static void plan_order(struct measure *m)
{
	const struct event_spec *first = m->events.events;

	m->ordered = event_get(first, ATTR_USE_CLOCKID) &&
		     event_get(first, ATTR_CLOCKID) == CLOCK_MONOTONIC &&
		     event_get(first, ATTR_SAMPLE_TYPE) & PERF_SAMPLE_TIME;
	for (size_t i = 0; i < m->events.n; i++) {
		static const unsigned int same[] = {
			ATTR_USE_CLOCKID, ATTR_CLOCKID, ATTR_SAMPLE_TYPE, ATTR_SAMPLE_ID_ALL,
		};

		for (size_t k = 0; k < sizeof(same) / sizeof(*same); k++)
			if (event_get(&m->events.events[i], same[k]) !=
			    event_get(first, same[k]))
				m->ordered = false;
	}
	if (m->ordered)
		record_format_of(&m->stream.format, first->attr.bytes, first->attr.len,
				 arch_native());
}

/* Map rings and AUX areas for all open events.  Return false after a warn(). */
static bool measure_map(struct measure *m)
{
	int error;
	const struct options *o = &m->own_session.options;
	struct measured *measured;

	m->stream.ops = &stream_ops;
	m->stream.ctx = m;
	plan_order(m);
	error = batch_map(&m->batch, &m->stream, m->pages);
	if (error) {
		refusal_map(m->stream.n + 1, m->pages, error);
		return false;
	}
	if (m->aux_pages)
		error = batch_map_aux(&m->batch, &m->stream, m->aux_pages, m->aux_snapshot);
	if (error) {
		refusal_aux(m->aux_pages, error);
		return false;
	}
	m->rings = xcalloc(m->stream.n, sizeof(*m->rings));
	for (size_t i = 0; i < m->stream.n; i++) {
		uint64_t at = (uintptr_t)m->stream.rings[i].at;

		m->rings[i] = model_ring_at(m->own_session.session.model, gettid(), at, at + 1);
	}
	/* report the processes that are measured, for outputs that contain records, or name tasks */
	if (o->json || o->perf_data || o->text.words) {
		measured = measured_new(&m->own_session.session, false);
		measured_task(measured, gettid());
		measured_free(measured);
	}
	return true;
}

/* Show new records; last: also those held back to be sorted by time. */
static void measure_look(struct measure *m, bool last)
{
	if (m->stream.n)
		stream_look(&m->stream, last || !m->ordered ? UINT64_MAX :
			    clock_ns() - SETTLE_NS);
}

#define NS 1000000000ULL

/* Not defined by older C libraries; the same number on every architecture. */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

enum { TICK_MS = 100 };	/* between two reads of the rings without a wakeup */

/* Opening -------------------------------------------------------------------------- */

static bool catch_signals(struct measure *m)
{
	sigset_t wanted;

	sigemptyset(&wanted);
	sigaddset(&wanted, SIGINT);
	sigaddset(&wanted, SIGTERM);
	sigaddset(&wanted, SIGHUP);
	sigaddset(&wanted, SIGCHLD);
	sigprocmask(SIG_BLOCK, &wanted, &m->mask);
	m->signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
	if (m->signals < 0)
		warn("cannot wait for signals: %s", strerror(errno));
	return m->signals >= 0;
}

static bool open_all(struct measure *m)
{
	struct batch *b = &m->batch;

	b->own_calls = &m->own_session.own_calls;
	b->events = &m->events;
	b->targets = m->targets;
	b->ntargets = m->ntargets;
	b->flags |= PERF_FLAG_FD_CLOEXEC;
	batch_open(b, m->retry, m);
	refusal_tell(m);
	for (size_t i = 0; i < m->events.n; i++)
		if (b->errors[i] == EMFILE || b->errors[i] == ENFILE)
			return false;
	return b->nopen;
}

bool measure_open(struct measure *m)
{
	struct options *o = &m->own_session.options;
	bool heirs = false;

	m->signals = m->cgroup_fd = -1;
	m->work.go[0] = m->work.go[1] = m->work.report = -1;
	o->records = m->pages;
	mounts_warn();
	if (!own_session_start(&m->own_session))
		exit(EXIT_TROUBLE);
	if (!catch_signals(m) || (o->argv && !workload_fork(&m->work, &o->program, o->argv, &m->mask)))
		return false;
	m->pidfds = xcalloc(o->npids, sizeof(*m->pidfds));
	for (size_t i = 0; i < o->npids; i++)
		m->pidfds[i] = (int)syscall(SYS_pidfd_open, o->pids[i], 0);
	for (size_t i = 0; i < m->events.n; i++)
		heirs |= event_get(&m->events.events[i], ATTR_INHERIT) != 0;
	return targets_find(m, m->pages && heirs) && open_all(m) && (!m->pages || measure_map(m));
}

/* Running --------------------------------------------------------------------------- */

static void take_signals(struct measure *m)
{
	struct signalfd_siginfo info;

	while (read(m->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD) {
			workload_reap(&m->work);
			continue;
		}
		m->interrupts++;
		/* forward it, unless a terminal sent it to the command as well */
		if (m->work.pid && !m->work.ended &&
		    (m->interrupts > 1 || info.ssi_code != SI_KERNEL))
			kill(m->work.pid, m->interrupts > 1 ? SIGKILL : (int)info.ssi_signo);
	}
}

/* Return whether the measurement is over. */
static bool is_over(const struct measure *m, uint64_t now)
{
	const struct options *o = &m->own_session.options;
	bool ended = o->npids;

	if (m->work.pid)
		return m->work.ended;
	for (size_t i = 0; i < o->npids && ended; i++) {
		struct pollfd p = { .fd = m->pidfds[i], .events = POLLIN };

		ended = p.fd >= 0 ? poll(&p, 1, 0) > 0 :
			kill(o->pids[i], 0) && errno == ESRCH; /* before 5.3 */
	}
	return m->interrupts || ended ||
	       (m->seconds > 0 && (double)(now - m->from_ns) >= m->seconds * 1e9) ||
	       (m->once && !(m->seconds > 0));
}

static void go_on(struct measure *m)
{
	size_t n = m->stream.n;
	struct pollfd *fds = xcalloc(n + 1, sizeof(*fds)); /* of the rings, and of signals */
	uint64_t shown = m->from_ns, now;
	double left;

	for (size_t i = 0; i < n; i++)
		fds[i] = (struct pollfd){ m->stream.rings[i].fd, POLLIN, 0 };
	fds[n] = (struct pollfd){ m->signals, POLLIN, 0 };
	progress_start(&m->line, NULL);
	while (now = clock_ns(), !is_over(m, now)) {
		left = m->seconds * 1e3 - (double)(now - m->from_ns) / 1e6;
		poll(fds, n + 1, m->seconds > 0 && left < TICK_MS ? (int)left + 1 : TICK_MS);
		take_signals(m);
		/* an event whose task has exited would always be ready */
		for (size_t i = 0; i < n; i++)
			if (fds[i].revents & (POLLHUP | POLLERR))
				fds[i].fd = -1;
		measure_look(m, false);
		session_tick(&m->own_session.session, clock_ns());
		if (m->progress && now - shown >= NS) {
			shown = now;
			m->progress(m, (double)(now - m->from_ns) / 1e9);
		}
	}
	progress_end(&m->line);
	free(fds);
}

bool measure_run(struct measure *m)
{
	bool disabled = false, ran;

	for (size_t i = 0; i < m->events.n; i++) {
		const struct event_spec *e = &m->events.events[i];

		disabled |= e->leader == i && event_get(e, ATTR_DISABLED) &&
			    !event_get(e, ATTR_ENABLE_ON_EXEC);
	}
	if (disabled)
		batch_control(&m->batch, PERF_EVENT_IOC_ENABLE);
	m->from_ns = clock_ns();
	ran = !m->work.pid || workload_go(&m->work);
	if (ran)
		go_on(m);
	m->to_ns = clock_ns();
	batch_control(&m->batch, PERF_EVENT_IOC_DISABLE);
	measure_look(m, true);
	stream_snapshot(&m->stream);
	return ran;
}

bool measure_end(struct measure *m)
{
	bool written;

	stream_close(&m->stream, &m->own_session.own_calls);
	batch_close(&m->batch);
	workload_end(&m->work);
	for (size_t i = 0; m->pidfds && i < m->own_session.options.npids; i++)
		if (m->pidfds[i] >= 0)
			close(m->pidfds[i]);
	if (m->cgroup_fd >= 0)
		close(m->cgroup_fd);
	if (m->signals >= 0)
		close(m->signals);
	free(m->pidfds);
	free(m->targets);
	free(m->rings);
	cpus_free(&m->cpus);
	event_list_free(&m->events);
	written = own_session_end(&m->own_session);
	options_free(&m->own_session.options);
	sigprocmask(SIG_SETMASK, &m->mask, NULL);
	return written;
}
