// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Event names of libpfm4; only this file includes its headers.  The library is loaded when
 * the first name is looked up, as its 41,000 relocations would take a quarter of the time of
 * a short trace.
 */
#include "host/event_words.h"

#ifdef HAVE_LIBPFM4
#include <dlfcn.h>
#include <perfmon/pfmlib_perf_event.h>
#include <string.h>

/* Return pfm_get_os_event_encoding() of the initialized library, or NULL without it. */
static __typeof__(&pfm_get_os_event_encoding) pfm_encoder(void)
{
	void *library = dlopen("libpfm.so.4", RTLD_NOW);
	__typeof__(&pfm_initialize) init;

	if (!library)
		return NULL;
	init = (__typeof__(init))dlsym(library, "pfm_initialize");
	if (!init || init() != PFM_SUCCESS)
		return NULL;
	return (__typeof__(pfm_encoder()))dlsym(library, "pfm_get_os_event_encoding");
}

bool event_word_pfm(const char *name, uint8_t *attr, size_t size)
{
	struct perf_event_attr made = { 0 };
	pfm_perf_encode_arg_t arg = { .attr = &made, .size = sizeof(arg) };
	__typeof__(pfm_encoder()) encode = pfm_encoder();

	if (!encode || encode(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &arg) != PFM_SUCCESS)
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
