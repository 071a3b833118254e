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

#include "lib/buf.h"

/* Functions of the library; initialize is NULL without it. */
struct pfm {
	__typeof__(&pfm_initialize) initialize;
	__typeof__(&pfm_get_os_event_encoding) encode;
	__typeof__(&pfm_get_pmu_info) pmu;
	__typeof__(&pfm_get_event_info) event;
	__typeof__(&pfm_get_event_next) next;
	__typeof__(&pfm_get_event_attr_info) attr;
};

/* Load the library, unless it is loaded; return whether it has all functions. */
static bool pfm_load(struct pfm *p)
{
	void *library = dlopen("libpfm.so.4", RTLD_NOW);

	*p = (struct pfm){ .initialize = NULL };
	if (!library)
		return false;
	p->initialize = (__typeof__(p->initialize))dlsym(library, "pfm_initialize");
	p->encode = (__typeof__(p->encode))dlsym(library, "pfm_get_os_event_encoding");
	p->pmu = (__typeof__(p->pmu))dlsym(library, "pfm_get_pmu_info");
	p->event = (__typeof__(p->event))dlsym(library, "pfm_get_event_info");
	p->next = (__typeof__(p->next))dlsym(library, "pfm_get_event_next");
	p->attr = (__typeof__(p->attr))dlsym(library, "pfm_get_event_attr_info");
	return p->initialize && p->encode && p->pmu && p->event && p->next && p->attr &&
	       p->initialize() == PFM_SUCCESS;
}

bool event_word_pfm(const char *name, uint8_t *attr, size_t size)
{
	struct perf_event_attr made = { 0 };
	pfm_perf_encode_arg_t arg = { .attr = &made, .size = sizeof(arg) };
	struct pfm p;

	if (!pfm_load(&p) || p.encode(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &arg) != PFM_SUCCESS)
		return false;
	memcpy(attr, &made, size < sizeof(made) ? size : sizeof(made));
	return true;
}

static void pfm_each_mask(const struct pfm *p, const char *pmu, int event,
			  void (*hook)(void *ctx, const char *name), void *ctx)
{
	pfm_event_info_t info = { .size = sizeof(info) };
	struct buf name = { 0 };
	bool masks = false;

	if (p->event(event, PFM_OS_PERF_EVENT, &info) != PFM_SUCCESS)
		return;
	for (int i = 0; i < info.nattrs; i++) {
		pfm_event_attr_info_t attr = { .size = sizeof(attr) };

		if (p->attr(event, i, PFM_OS_PERF_EVENT, &attr) != PFM_SUCCESS ||
		    attr.type != PFM_ATTR_UMASK)
			continue;
		buf_reset(&name);
		buf_addf(&name, "%s::%s:%s", pmu, info.name, attr.name);
		hook(ctx, name.data);
		masks = true;
	}
	if (!masks) {
		buf_addf(&name, "%s::%s", pmu, info.name);
		hook(ctx, name.data);
	}
	buf_free(&name);
}

void event_words_pfm_each(void (*hook)(void *ctx, const char *name), void *ctx)
{
	struct pfm p;

	if (!pfm_load(&p))
		return;
	for (int i = PFM_PMU_NONE; i < PFM_PMU_MAX; i++) {
		pfm_pmu_info_t pmu = { .size = sizeof(pmu) };

		if (i == PFM_PMU_PERF_EVENT || i == PFM_PMU_PERF_EVENT_RAW ||
		    p.pmu((pfm_pmu_t)i, &pmu) != PFM_SUCCESS || !pmu.is_present)
			continue;
		for (int e = pmu.first_event; e != -1; e = p.next(e))
			pfm_each_mask(&p, pmu.name, e, hook, ctx);
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
