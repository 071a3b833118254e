/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the session share. */
#ifndef PEVTRACE_SESSION_SESSION_INTERNAL_H
#define PEVTRACE_SESSION_SESSION_INTERNAL_H

#include "session/session.h"

/* Call a hook of every view that has it. */
#define TELL(s, hook, ...)							\
	do {									\
		for (struct view *v = (s)->views; v; v = v->next)		\
			if (v->ops->hook)					\
				v->ops->hook(v, __VA_ARGS__);			\
	} while (0)

/* Set names and hooks: the source's names, and what the model knows. */
void session_names_init(struct session *s);

#endif
