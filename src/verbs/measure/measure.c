// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verbs/measure/measure_internal.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/host/mounts.h"
#include "core/lib/clock.h"
#include "core/lib/die.h"
#include "verbs/measure/refusal.h"
#include "xlat/constants.h"

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

static void open_pidfds(struct measure *m)
{
	const struct options *o = &m->own_session.options;

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

	m->signals = m->cgroup_fd = -1;
	m->work.go[0] = m->work.go[1] = m->work.report = -1;
	o->records = m->pages;
	mounts_warn();
	if (!own_session_start(&m->own_session))
		exit(EXIT_TROUBLE);
	if (!catch_signals(m) || (o->argv && !workload_fork(&m->work, &o->program, o->argv, &m->mask)))
		return false;
	open_pidfds(m);
	return targets_find(m, m->pages && has_heirs(m)) && open_all(m) &&
	       (!m->pages || measure_map(m));
}

/* Running --------------------------------------------------------------------------- */

/* Forward a signal, except one that a terminal sent to the command as well. */
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
		return kill(m->own_session.options.pids[i], 0) && errno == ESRCH;
	return poll(&p, 1, 0) > 0;
}

static bool pids_ended(const struct measure *m)
{
	size_t n = m->own_session.options.npids;

	for (size_t i = 0; i < n; i++)
		if (!pid_ended(m, i))
			return false;
	return n;
}

/* Return whether the measurement is over. */
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
	poll(fds, n, wait_ms(m, clock_ns()));
	take_signals(m);
}

/* Return the rings followed by the signalfd, for poll(2); the caller frees it. */
static struct pollfd *poll_set(const struct measure *m)
{
	struct pollfd *fds = xcalloc(m->stream.n + 1, sizeof(*fds));

	for (size_t i = 0; i < m->stream.n; i++)
		fds[i] = (struct pollfd){ m->stream.rings[i].fd, POLLIN, 0 };
	fds[m->stream.n] = (struct pollfd){ m->signals, POLLIN, 0 };
	return fds;
}

/* Do not poll an event whose task has exited: it is always ready. */
static void leave_out_ended(struct pollfd *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fds[i].revents & (POLLHUP | POLLERR))
			fds[i].fd = -1;
}

static void go_on(struct measure *m)
{
	struct pollfd *fds = poll_set(m);
	uint64_t shown = m->from_ns, now;

	progress_start(&m->line, NULL);
	while (now = clock_ns(), !is_over(m, now)) {
		wait_for_more(m, fds, m->stream.n + 1);
		leave_out_ended(fds, m->stream.n);
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

/* Return whether a leader has to be enabled by ioctl. */
static bool has_disabled_leader(const struct measure *m)
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

	if (has_disabled_leader(m))
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
