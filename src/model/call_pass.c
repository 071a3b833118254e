// SPDX-License-Identifier: LGPL-2.1-or-later
/* Descriptors passed through sockets. */
#include <stdlib.h>

#include "abi/pass.h"
#include "lib/die.h"
#include "model/calls.h"
#include "xlat/constants.h"


void model_sent(struct model *m, struct task *t, const struct call *c)
{
	struct message *msg, **last = &m->passing;
	int fds[CALL_MAX_PASSED];
	size_t n = call_passed_fds(c, AT_SYSCALL_ENTER, fds), events = 0;

	for (size_t i = 0; i < n; i++)
		events += fdtab_event(t->files, fds[i]) != NULL;
	if (!events)
		return;
	msg = xcalloc(1, sizeof(*msg));
	msg->n = n;
	msg->files = xcalloc(n, sizeof(struct file *));
	for (size_t i = 0; i < n; i++)
		if (fdtab_event(t->files, fds[i]))
			msg->files[i] = file_ref(fdtab_file(t->files, fds[i]));
	while (*last)
		last = &(*last)->next;
	*last = msg;
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

	while (n && *at && !is_received(*at, t, fds, n))
		at = &(*at)->next;
	msg = *at;
	if (!n || !msg)
		return;
	*at = msg->next;
	for (size_t i = 0; i < msg->n; i++) {
		if (!msg->files[i])
			continue;
		if (i < n && !fdtab_event(t->files, fds[i]))
			fdtab_set(t->files, fds[i], msg->files[i],
				  c->args[2] & ABI_MSG_CMSG_CLOEXEC);
		file_unref(msg->files[i]);
	}
	free(msg->files);
	free(msg);
}
