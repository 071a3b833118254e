// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cmd/measure.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "abi/layout.h"
#include "cmd/reason.h"
#include "cmd/refusal.h"
#include "cmd/targets.h"
#include "drive/writer.h"
#include "host/symbols.h"
#include "lib/die.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"

#define NS 1000000000ULL

/* The same on every architecture; C libraries learnt it late. */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

enum {
	TICK_MS = 100,		/* between two looks that nothing calls for */
	/*
	 * A record has its time a little before it can be seen: what is younger
	 * waits, as an older one may yet come in another ring.
	 */
	SETTLE_NS = 1000000,
};

/* Of PERF_RECORD_AUX: what is there is not all that was. */
#define CUT (PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL | PERF_AUX_FLAG_COLLISION)

/* Options ---------------------------------------------------------------------- */

static double option_seconds(const char *arg)
{
	char *end;
	double v = strtod(arg, &end);

	if (end == arg || *end || !(v > 0) || v > 1e9)
		die("--for needs a number of seconds above 0, not '%s'", arg);
	return v;
}

void measure_option(struct measure *m, int opt, const char *arg, char **argv,
		    const char *verb, const char *help)
{
	struct options *o = &m->issuing.options;

	if (options_show(o, opt, arg))
		return;
	switch (opt) {
	case 'a':
		m->all = true;
		break;
	case 'C':
		cpus_free(&m->cpus);
		if (!cpus_parse(&m->cpus, arg))
			die("-C needs a list of CPUs as in 0-3,8, not '%s'", arg);
		break;
	case 'G':
		m->cgroup = arg;
		break;
	case 'h':
		options_say(help);
	case 'p':
		options_pids(o, arg);
		break;
	case 'q':
		for (size_t i = 0; i < CALL_COUNT; i++)
			o->select.calls[i] = SELECT_NONE;
		break;
	case 'V':
		options_say(PACKAGE_STRING "\n");
	case MEASURE_FOR:
		m->seconds = option_seconds(arg);
		break;
	default:
		options_wrong(opt, argv, verb);
	}
}

bool measure_is_system(const struct measure *m)
{
	return !m->cgroup && !m->issuing.options.npids && (m->all || m->cpus.n);
}

bool measure_is_command(const struct measure *m)
{
	return m->issuing.options.argv && !m->cgroup && !m->issuing.options.npids &&
	       !measure_is_system(m);
}

void measure_options_end(struct measure *m, int argc, char **argv)
{
	struct options *o = &m->issuing.options;

	if (optind < argc)
		o->argv = argv + optind;
	options_check_show(o);
	if (m->all && (m->cgroup || o->npids))
		die("-a is everything: it does not go with -p or -G");
	if (m->cgroup && o->npids)
		die("-p and -G do not go together; run pevtrace twice");
	if (m->all && m->cpus.n)
		die("-a is every CPU: it does not go with -C");
	if (m->seconds > 0 && o->argv)
		die("--for and a command do not go together: the command says how long");
}

/* Records ------------------------------------------------------------------------ */

static size_t ring_index(const struct measure *m, const struct stream_ring *r)
{
	return (size_t)(r - m->stream.rings);
}

static uint32_t record_type(const uint8_t *bytes)
{
	return (uint32_t)load_uint(bytes, 4); /* the first member of the header */
}

static void on_aux(void *ctx, const struct stream_ring *r, const struct aux_result *result)
{
	struct measure *m = ctx;

	(void)r;
	m->aux_bytes += result->bytes;
	m->aux_cut += result->missed || result->odd_head;
}

/* Whose the records would have been does not matter. */
static void count_lost(struct measure *m, const uint8_t *bytes, size_t len)
{
	uint32_t type = record_type(bytes);

	if (type == PERF_RECORD_LOST)
		m->lost += layout_get(&layout_perf_record_lost, PERF_RECORD_LOST_LOST, bytes,
				      len);
	else if (type == PERF_RECORD_LOST_SAMPLES)
		m->lost_samples += layout_get(&layout_perf_record_lost_samples,
					      PERF_RECORD_LOST_SAMPLES_LOST, bytes, len);
	else if (type == PERF_RECORD_AUX)
		m->aux_cut += (layout_get(&layout_perf_record_aux, PERF_RECORD_AUX_FLAGS, bytes,
					  len) & CUT) != 0;
}

static void on_record(void *ctx, const struct stream_ring *from, const uint8_t *bytes,
		      size_t len)
{
	struct measure *m = ctx;
	struct session *s = &m->issuing.session;
	struct ring *ring = m->rings[ring_index(m, from)];
	struct view_record record = { .ring = ring, .bytes = bytes, .len = len };
	struct writer w;

	count_lost(m, bytes, len);
	if (m->wanted && !m->wanted(m, record_type(bytes)))
		return;
	writer_find(s->model, ring, bytes, len, &w);
	record.event = w.event;
	record.sure = w.sure;
	record.format = &w.format;
	model_recorded(ring, w.event, bytes, len);
	if (m->issuing.machine.symbols)
		symbols_record(m->issuing.machine.symbols, bytes, len);
	session_record(s, gettid(), session_now(), &record);
}

static void on_looked(void *ctx, const struct stream_ring *from,
		      const struct ring_result *result)
{
	struct measure *m = ctx;
	struct ring *ring = m->rings[ring_index(m, from)];
	const struct view_look look = {
		.ring = ring, .page = result->page.bytes,
		.page_len = sizeof(result->page.bytes),
		.missed = result->missed, .torn = result->torn,
	};

	model_looked(ring, result->missed, result->torn);
	session_looked(&m->issuing.session, gettid(), session_now(), &look);
}

static const struct stream_ops stream_ops = {
	.record = on_record, .looked = on_looked, .aux = on_aux,
};

struct at { uint64_t start; struct ring *ring; };

static void match_ring(void *ctx, struct ring *r)
{
	struct at *at = ctx;

	if (r->start == at->start)
		at->ring = r;
}

static void find_rings(struct measure *m)
{
	m->rings = xcalloc(m->stream.n, sizeof(*m->rings));
	for (size_t i = 0; i < m->stream.n; i++) {
		struct at at = { .start = (uintptr_t)m->stream.rings[i].at };

		model_each_ring(m->issuing.session.model, gettid(), match_ring, &at);
		m->rings[i] = at.ring;
	}
}

/*
 * Records of several rings can be brought in order when all of them have the
 * time at one place, by a clock that we can read.
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

static bool map(struct measure *m)
{
	int error;

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
	find_rings(m);
	return true;
}

static void look(struct measure *m, bool last)
{
	if (m->stream.n)
		stream_look(&m->stream, last || !m->ordered ? UINT64_MAX :
			    session_now() - SETTLE_NS);
}

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

static void watch_pids(struct measure *m)
{
	const struct options *o = &m->issuing.options;

	m->pidfds = xcalloc(o->npids, sizeof(*m->pidfds));
	for (size_t i = 0; i < o->npids; i++)
		m->pidfds[i] = (int)syscall(SYS_pidfd_open, o->pids[i], 0);
}

static bool has_heirs(const struct measure *m)
{
	for (size_t i = 0; i < m->events.n; i++)
		if (event_get(&m->events.events[i], ATTR_INHERIT))
			return true;
	return false;
}

static bool open_all(struct measure *m)
{
	struct batch *b = &m->batch;

	b->issuer = &m->issuing.issuer;
	b->events = &m->events;
	b->targets = m->targets;
	b->ntargets = m->ntargets;
	b->flags |= PERF_FLAG_FD_CLOEXEC;
	batch_open(b, m->retry, m);
	reason_tell(m);
	for (size_t i = 0; i < m->events.n; i++)
		if (b->errors[i] == EMFILE || b->errors[i] == ENFILE)
			return false;
	return b->nopen;
}

bool measure_open(struct measure *m)
{
	struct options *o = &m->issuing.options;

	m->signals = m->cgroup_fd = -1;
	m->work.go = m->work.report = -1;
	o->records = m->pages;
	if (!issuing_start(&m->issuing))
		exit(EXIT_TROUBLE);
	if (!catch_signals(m) || (o->argv && !workload_fork(&m->work, o->argv, &m->mask)))
		return false;
	watch_pids(m);
	return targets_find(m, m->pages && has_heirs(m)) && open_all(m) &&
	       (!m->pages || map(m));
}

/* Running --------------------------------------------------------------------------- */

/* What a terminal sends has reached the command as well. */
static void pass_on(struct measure *m, const struct signalfd_siginfo *info)
{
	if (!m->work.pid || m->work.ended)
		return;
	if (m->interrupts == 1 && info->ssi_code == SI_KERNEL)
		return;
	kill(m->work.pid, m->interrupts > 1 ? SIGKILL : (int)info->ssi_signo);
}

static void take_signals(struct measure *m)
{
	struct signalfd_siginfo info;

	while (read(m->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD) {
			workload_reap(&m->work);
			continue;
		}
		m->interrupts++;
		pass_on(m, &info);
	}
}

static bool pid_ended(const struct measure *m, size_t i)
{
	struct pollfd p = { .fd = m->pidfds[i], .events = POLLIN };

	if (p.fd < 0) /* before 5.3 */
		return kill(m->issuing.options.pids[i], 0) && errno == ESRCH;
	return poll(&p, 1, 0) > 0;
}

static bool pids_ended(const struct measure *m)
{
	size_t n = m->issuing.options.npids;

	for (size_t i = 0; i < n; i++)
		if (!pid_ended(m, i))
			return false;
	return n;
}

/* Nothing more is to come, or nobody wants it. */
static bool is_over(const struct measure *m, uint64_t now)
{
	if (m->work.pid)
		return m->work.ended;
	return m->interrupts || pids_ended(m) ||
	       (m->seconds > 0 && (double)(now - m->from_ns) >= m->seconds * 1e9) ||
	       (m->once && !(m->seconds > 0));
}

static int wait_ms(const struct measure *m, uint64_t now)
{
	double left = m->seconds * 1e3 - (double)(now - m->from_ns) / 1e6;

	return m->seconds > 0 && left < TICK_MS ? (int)left + 1 : TICK_MS;
}

static void wait_for_more(struct measure *m, struct pollfd *fds, size_t n)
{
	poll(fds, n, wait_ms(m, session_now()));
	take_signals(m);
}

/* The rings, and our signals behind them. */
static struct pollfd *poll_set(const struct measure *m)
{
	struct pollfd *fds = xcalloc(m->stream.n + 1, sizeof(*fds));

	for (size_t i = 0; i < m->stream.n; i++)
		fds[i] = (struct pollfd){ m->stream.rings[i].fd, POLLIN, 0 };
	fds[m->stream.n] = (struct pollfd){ m->signals, POLLIN, 0 };
	return fds;
}

/* An event whose task has ended is always ready: it is not waited for any more. */
static void leave_out_ended(struct pollfd *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fds[i].revents & (POLLHUP | POLLERR))
			fds[i].fd = -1;
}

static void go_on(struct measure *m)
{
	struct pollfd *fds = poll_set(m);
	uint64_t told = m->from_ns, now;

	while (now = session_now(), !is_over(m, now)) {
		wait_for_more(m, fds, m->stream.n + 1);
		leave_out_ended(fds, m->stream.n);
		look(m, false);
		session_tick(&m->issuing.session, session_now());
		if (m->progress && now - told >= NS) {
			told = now;
			m->progress(m, (double)(now - m->from_ns) / 1e9);
		}
	}
	free(fds);
}

/* Whether some leader waits for PERF_EVENT_IOC_ENABLE. */
static bool waits(const struct measure *m)
{
	for (size_t i = 0; i < m->events.n; i++) {
		const struct event_spec *e = &m->events.events[i];

		if (e->leader == i && event_get(e, ATTR_DISABLED) &&
		    !event_get(e, ATTR_ENABLE_ON_EXEC))
			return true;
	}
	return false;
}

bool measure_run(struct measure *m)
{
	bool ran;

	if (waits(m))
		batch_control(&m->batch, PERF_EVENT_IOC_ENABLE);
	m->from_ns = session_now();
	ran = !m->work.pid || workload_go(&m->work);
	if (ran)
		go_on(m);
	m->to_ns = session_now();
	batch_control(&m->batch, PERF_EVENT_IOC_DISABLE);
	look(m, true);
	stream_snapshot(&m->stream);
	return ran;
}

bool measure_end(struct measure *m)
{
	bool written;

	stream_close(&m->stream, &m->issuing.issuer);
	batch_close(&m->batch);
	workload_end(&m->work);
	for (size_t i = 0; m->pidfds && i < m->issuing.options.npids; i++)
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
	written = issuing_end(&m->issuing);
	options_free(&m->issuing.options);
	sigprocmask(SIG_SETMASK, &m->mask, NULL);
	return written;
}
