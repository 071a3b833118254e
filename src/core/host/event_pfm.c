// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Event names of libpfm4; only this file includes its headers.  The library has 41,000
 * relocations, and may be missing.
 */
#include "core/host/event_words.h"

#ifdef HAVE_LIBPFM4
#include <dlfcn.h>
#include <perfmon/pfmlib_perf_event.h>
#include <string.h>

#include "core/lib/buf.h"
#include "core/lib/late.h"

#define PFM(f) LATE_SYMBOL("libpfm.so.4", f)

/* Return whether the library is installed. */
static bool pfm_load(void)
{
	return dlopen("libpfm.so.4", RTLD_NOW | RTLD_GLOBAL) && PFM(pfm_initialize)() == PFM_SUCCESS;
}

bool event_word_pfm(const char *name, uint8_t *attr, size_t size)
{
	struct perf_event_attr made = { 0 };
	pfm_perf_encode_arg_t arg = { .attr = &made, .size = sizeof(arg) };

	if (!pfm_load() || PFM(pfm_get_os_event_encoding)(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &arg) != PFM_SUCCESS)
		return false;
	if (size)
		memcpy(attr, &made, size < sizeof(made) ? size : sizeof(made));
	return true;
}

/* Call hook if the kernel has the PMU, which libpfm4 finds by the model of the CPU. */
static void pfm_name(const char *name, void (*hook)(void *ctx, const char *name), void *ctx)
{
	if (event_word_pfm(name, NULL, 0))
		hook(ctx, name);
}

/* Call hook for each mask of an event, or for the event if it has none. */
static void pfm_each_mask(const char *pmu, int event,
			  void (*hook)(void *ctx, const char *name), void *ctx)
{
	pfm_event_info_t info = { .size = sizeof(info) };
	struct buf name = { 0 };
	bool masks = false;

	if (PFM(pfm_get_event_info)(event, PFM_OS_PERF_EVENT, &info) != PFM_SUCCESS)
		return;
	for (int i = 0; i < info.nattrs; i++) {
		pfm_event_attr_info_t attr = { .size = sizeof(attr) };

		if (PFM(pfm_get_event_attr_info)(event, i, PFM_OS_PERF_EVENT, &attr) != PFM_SUCCESS ||
		    attr.type != PFM_ATTR_UMASK)
			continue;
		buf_reset(&name);
		buf_addf(&name, "%s::%s:%s", pmu, info.name, attr.name);
		pfm_name(name.data, hook, ctx);
		masks = true;
	}
	if (!masks) {
		buf_addf(&name, "%s::%s", pmu, info.name);
		pfm_name(name.data, hook, ctx);
	}
	buf_free(&name);
}

void event_words_pfm_each(void (*hook)(void *ctx, const char *name), void *ctx)
{

	if (!pfm_load())
		return;
	for (int i = PFM_PMU_NONE; i < PFM_PMU_MAX; i++) {
		pfm_pmu_info_t pmu = { .size = sizeof(pmu) };

		if (i == PFM_PMU_PERF_EVENT || i == PFM_PMU_PERF_EVENT_RAW ||
		    PFM(pfm_get_pmu_info)((pfm_pmu_t)i, &pmu) != PFM_SUCCESS || !pmu.is_present)
			continue;
		for (int e = pmu.first_event; e != -1; e = PFM(pfm_get_event_next)(e))
			pfm_each_mask(pmu.name, e, hook, ctx);
	}
}
#else
void event_words_pfm_each(void (*hook)(void *ctx, const char *name), void *ctx)
{
	(void)hook;
	(void)ctx;
}

bool event_word_pfm(const char *name, uint8_t *attr, size_t size)
{
	(void)name;
	(void)attr;
	(void)size;
	return false;
}
#endif
