// SPDX-License-Identifier: LGPL-2.1-or-later
/* Names of errors and signals, from the C library's own headers. */
#include "core/lib/libc.h"

#include <errno.h>
#include <stddef.h>

#include "xlat/libc_names.inc"

#ifndef HAVE_STRERRORNAME_NP
const char *strerrorname_np(int error)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (errors[i].number == error)
			return errors[i].name;
	return NULL;
}
#endif

#ifndef HAVE_SIGABBREV_NP
const char *sigabbrev_np(int sig)
{
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (signals[i].number == sig)
			return signals[i].name;
	return NULL;
}
#endif
