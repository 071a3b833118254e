// SPDX-License-Identifier: LGPL-2.1-or-later
#include "abi/sink.h"

#include <stdarg.h>
#include <stdio.h>

void sink_notef(struct sink *s, const char *key, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	s->ops->note(s, key, text);
}
