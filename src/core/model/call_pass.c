// SPDX-License-Identifier: LGPL-2.1-or-later
/* Descriptors passed through sockets. */
#include <stdlib.h>

#include "core/abi/call_decode.h"
#include "core/lib/die.h"
#include "core/model/calls.h"
#include "xlat/constants.h"

/* What is sent and not received soon was received unseen, or never will be. */
#define TRANSIT_NS (10 * 1000000000ULL)
enum { TRANSIT_MESSAGES = 1024 };

/* Remove the message at *at from those in transit. */
static void message_drop(struct model *m, struct message **at)
{
	struct message *msg = *at;

	*at = msg->next;
	m->npassing--;
	for (size_t i = 0; i < msg->n; i++)
		if (msg->files[i])
			file_unref(msg->files[i]);
	free(msg->files);
	free(msg);
}

void model_forget_messages(struct model *m, uint64_t now)
{
	while (m->passing && now > TRANSIT_NS && m->passing->sent_ns < now - TRANSIT_NS)
		message_drop(m, &m->passing);
}

void model_sent(struct model *m, struct task *t, const struct call *c)
{
	struct message *msg, **last = &m->passing;
	int fds[CALL_MAX_PASSED];
	size_t n = call_passed_fds(c, AT_SYSCALL_ENTER, fds), events = 0;

	for (size_t i = 0; i < n; i++)
		events += fdtab_event(t->files, fds[i]) != NULL;
	if (!events)
		return;
	if (m->npassing == TRANSIT_MESSAGES)
		message_drop(m, &m->passing);
	msg = xcalloc(1, sizeof(*msg));
	msg->sent_ns = c->enter_ns;
	msg->n = n;
	msg->files = xcalloc(n, sizeof(struct file *));
	for (size_t i = 0; i < n; i++)
		if (fdtab_event(t->files, fds[i]))
			msg->files[i] = file_ref(fdtab_file(t->files, fds[i]));
	while (*last)
		last = &(*last)->next;
	*last = msg;
	m->npassing++;
}

/*
 * Return whether the message is the one received in fds.  The descriptors of events with a
 * known id were identified (model_found()) before; others are matched by order.
 */
static bool is_received(const struct message *msg, const struct task *t, const int *fds, size_t n)
{
	bool known = false, same = false;

	if (n > msg->n)
		return false; /* with fewer, the receiver's buffer was too short */
	for (size_t i = 0; i < msg->n; i++) {
		const struct event *e = msg->files[i] ? msg->files[i]->event : NULL;

		if (!e || !e->id)
			continue;
		known = true;
		if (i < n && fdtab_event(t->files, fds[i]) != e)
			return false;
		same |= i < n;
	}
	return known ? same : n == msg->n;
}

void model_received(struct model *m, struct task *t, const struct call *c)
{
	struct message **at = &m->passing, *msg;
	int fds[CALL_MAX_PASSED];
	size_t n = call_passed_fds(c, AT_SYSCALL_EXIT, fds);

	/* none is an event: forget what these numbers were, if their close was not seen */
	for (size_t i = 0; c->no_event && i < n; i++)
		fdtab_close(t->files, fds[i]);
	if (c->no_event)
		return;
	model_forget_messages(m, c->exit_ns);
	while (n && *at && !is_received(*at, t, fds, n))
		at = &(*at)->next;
	msg = *at;
	if (!n || !msg)
		return;
	for (size_t i = 0; i < msg->n && i < n; i++)
		if (msg->files[i] && !fdtab_event(t->files, fds[i]))
			fdtab_set(t->files, fds[i], msg->files[i],
				  c->args[2] & ABI_MSG_CMSG_CLOEXEC);
	message_drop(m, at);
}
