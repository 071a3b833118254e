// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verbs/measure/measure.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "core/abi/tables.h"
#include "core/host/cgroup.h"
#include "core/host/symbols.h"
#include "core/lib/clock.h"
#include "core/lib/die.h"
#include "engine/ptrace/proc.h"
#include "engine/rings/borrow.h"
#include "engine/rings/writer.h"
#include "formats/perfdata/measured.h"
#include "verbs/measure/refusal.h"

/* Whom events measure: the options, and the targets that they name ------------------------ */

static void set_seconds(void *to, const char *arg, const struct verb_option *o)
{
	char *end;
	double v = strtod(arg, &end);

	if (end == arg || *end || !(v > 0) || v > 1e9)
		die("%s requires a number of seconds above 0, not '%s'", o->typed, arg);
	*(double *)to = v;
}

static void set_cpus(void *to, const char *arg, const struct verb_option *o)
{
	cpus_free(to);
	if (!cpus_parse(to, arg))
		die("%s requires a list of CPUs such as 0-3,8, not '%s'", o->typed, arg);
}

static void measure_set_quiet(void *to, const char *arg, const struct verb_option *o)
{
	(void)arg, (void)o;
	selection_no_calls(to);
}

#define AT(member) offsetof(struct measure, member)

const struct verb_option measure_whom[] = {
	{ .name = "attach", .key = 'p', .arg = "PID", .set = options_set_pids,
	  .at = MEASURE_OPTIONS,
	  .help = "measure a process with its threads and children; repeatable" },
	{ .name = "all-cpus", .key = 'a', .set = verb_set_true, .at = AT(all),
	  .help = "measure everything on every CPU" },
	{ .name = "cpu", .key = 'C', .arg = "CPUS", .set = set_cpus, .at = AT(cpus),
	  .help = "measure everything, or what -p or -G names, on these CPUs: 0-3,8" },
	{ .name = "cgroup", .key = 'G', .arg = "CGROUP", .set = verb_set_text,
	  .at = AT(cgroup), .help = "measure the tasks of a cgroup" },
	{ .name = "for", .arg = "SECONDS", .set = set_seconds, .at = AT(seconds),
	  .help = "measure for that time; with -p, -a, -C or -G, a COMMAND sets it, too" },
	{ 0 },
};

const struct verb_option measure_quiet[] = {
	{ .name = "quiet", .key = 'q', .set = measure_set_quiet,
	  .at = AT(own_session.options.select), .help = "show no calls" },
	{ 0 },
};

bool measure_is_system(const struct measure *m)
{
	return !m->cgroup && !m->own_session.options.npids && (m->all || m->cpus.n);
}

bool measure_is_command(const struct measure *m)
{
	return m->own_session.options.argv && !m->cgroup && !m->own_session.options.npids &&
	       !measure_is_system(m);
}

void measure_options_end(struct measure *m, const struct verb_args *args)
{
	struct options *o = &m->own_session.options;

	if (args->n)
		o->argv = args->words;
	options_finish(o);
	if (m->all && (m->cgroup || o->npids || m->cpus.n))
		die("-a cannot be combined with -p, -G or -C");
	if (m->cgroup && o->npids)
		die("-p and -G are mutually exclusive; run pevtrace twice");
	if (m->seconds > 0 && o->argv)
		die("--for cannot be combined with a command, which sets the time");
}

enum { OTHER_FDS = 24 };	/* descriptors for other things than events */

/* Add a target for each of the CPUs, or one for any. */
static void add_on(struct measure *m, pid_t pid, const struct cpus *cpus)
{
	size_t n = cpus->n ? cpus->n : 1;

	m->targets = xrealloc(m->targets, (m->ntargets + n) * sizeof(*m->targets));
	for (size_t i = 0; i < n; i++)
		m->targets[m->ntargets++] = (struct target){ pid, cpus->n ? cpus->of[i] : -1 };
}

static bool add_threads(struct measure *m, pid_t pid, const struct cpus *cpus)
{
	DIR *d = proc_threads(pid);
	pid_t tid;

	if (!d) {
		warn("cannot measure process %d: %s", (int)pid,
		     errno == ENOENT ? "no such process" : strerror(errno));
		return false;
	}
	while ((tid = proc_next_thread(d)))
		add_on(m, tid, cpus);
	closedir(d);
	return true;
}

/* Return whether there are descriptors for each event and target; else warn before opening. */
static bool enough_fds(const struct measure *m)
{
	uint64_t need = m->ntargets * m->events.n + OTHER_FDS;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || need <= limit.rlim_cur)
		return true;
	if (need <= limit.rlim_max) { /* the command, forked before, keeps its limit */
		limit.rlim_cur = limit.rlim_max;
		return !setrlimit(RLIMIT_NOFILE, &limit);
	}
	warn("%zu event%s on %zu target%s (a thread or CPU each) require %llu descriptors, and "
	     "the limit is %llu; raise it (ulimit -n), or name fewer", m->events.n,
	     m->events.n == 1 ? "" : "s", m->ntargets, m->ntargets == 1 ? "" : "s",
	     (unsigned long long)need, (unsigned long long)limit.rlim_max);
	return false;
}

/*
 * Fill in m->targets, and the flags of the batch for a cgroup.  Inherited events with a
 * ring require a target for each CPU (per_cpu).  Return false after a warn().
 */
static bool targets_find(struct measure *m, bool per_cpu)
{
	const struct options *o = &m->own_session.options;
	struct cpus online, none = { 0 };
	const struct cpus *cpus = &m->cpus;
	bool ok = true;

	cpus_online(&online);
	for (size_t i = 0; ok && i < m->cpus.n; i++) {
		ok = cpus_have(&online, m->cpus.of[i]);
		if (!ok)
			warn("CPU %d is not online; see "
			     "/sys/devices/system/cpu/online", m->cpus.of[i]);
	}
	if (!cpus->n)
		cpus = per_cpu || m->all || m->cgroup ? &online : &none;
	if (ok && m->cgroup) {
		struct buf why = { 0 };

		m->cgroup_fd = cgroup_open(m->cgroup, &why);
		if (m->cgroup_fd < 0)
			warn("-G '%s': %s", m->cgroup, buf_str(&why));
		buf_free(&why);
		ok = m->cgroup_fd >= 0;
		m->batch.flags |= PERF_FLAG_PID_CGROUP;
		add_on(m, m->cgroup_fd, cpus);
	} else if (measure_is_system(m)) {
		add_on(m, -1, cpus);
	} else if (m->work.pid && measure_is_command(m)) {
		add_on(m, m->work.pid, cpus);
	} else if (!o->npids) {
		add_on(m, 0, cpus);
	}
	for (size_t i = 0; ok && i < o->npids; i++)
		ok = add_threads(m, o->pids[i], cpus);
	cpus_free(&online);
	return ok && enough_fds(m);
}

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

enum { TICK_MS = 100 };	/* between two reads of the rings without a wakeup */

/* Opening -------------------------------------------------------------------------- */

static bool catch_signals(struct measure *m)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP };
	sigset_t wanted;

	sigemptyset(&wanted);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (!signal_is_ignored(ends[i]))
			sigaddset(&wanted, ends[i]);
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
		m->pidfds[i] = process_open(o->pids[i]);
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

static bool is_over(const struct measure *m, uint64_t now)
{
	const struct options *o = &m->own_session.options;
	bool ended = o->npids;

	if (m->work.pid)
		return m->work.ended;
	for (size_t i = 0; i < o->npids && ended; i++)
		ended = m->pidfds[i] >= 0 ? process_ended(m->pidfds[i], 0) :
			kill(o->pids[i], 0) && errno == ESRCH; /* before 5.3 */
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
