/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files of the session only. */
#pragma once

#include "core/session/session.h"

/* Call a hook of every view that has it. */
#define EACH_VIEW(s, hook, ...)							\
	do {									\
		for (struct view *v = (s)->views; v; v = v->next)		\
			if (v->ops->hook)					\
				v->ops->hook(v, __VA_ARGS__);			\
	} while (0)

/* Initialise s->names, s->hooks and s->rawdata. */
void session_names_init(struct session *s);
