// SPDX-License-Identifier: LGPL-2.1-or-later
/* Event names of libpfm4; only this file includes its headers. */
#include "host/event_words.h"

#ifdef HAVE_LIBPFM4
#include <perfmon/pfmlib_perf_event.h>
#include <string.h>

bool event_word_pfm(const char *name, uint8_t *attr, size_t size)
{
	struct perf_event_attr made = { 0 };
	pfm_perf_encode_arg_t arg = { .attr = &made, .size = sizeof(arg) };

	if (pfm_initialize() != PFM_SUCCESS ||
	    pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT,
				      &arg) != PFM_SUCCESS)
		return false;
	memcpy(attr, &made, size < sizeof(made) ? size : sizeof(made));
	return true;
}
#else
bool event_word_pfm(const char *name, uint8_t *attr, size_t size)
{
	(void)name;
	(void)attr;
	(void)size;
	return false;
}
#endif
