// SPDX-License-Identifier: LGPL-2.1-or-later
/* Whether an AUX area receives data. */
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/abi/ioctl.h"
#include "core/host/pmu.h"
#include "core/lib/program.h"
#include "engine/rings/ring.h"
#include "experiment/instruments_internal.h"
#include "xlat/constants.h"
#include "xlat/tables.h"

enum { ATTR_MAX = 256, PAGES = 16 };

/* Return the config with which the PMU traces branches, if it has terms for that. */
static uint64_t aux_config(const struct pmu *p)
{
	static const char *const wanted[] = { "pt", "branch" };
	uint64_t config[ATTR_CONFIGS] = { 0 };

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		const struct pmu_term *t = pmu_term(p, wanted[i], strlen(wanted[i]));

		if (t)
			pmu_term_set(t, 1, config);
	}
	return config[0];
}

/* Count the bytes that are not 0: an area that only has zeros was not written. */
static void count_bytes(void *ctx, const uint8_t *bytes, size_t len, uint64_t position)
{
	uint64_t *counted = ctx;

	(void)position;
	for (size_t i = 0; i < len; i++)
		*counted += bytes[i] != 0;
}

static void measure_aux(const void *ctx, void *out)
{
	const struct pmu *p = ctx;
	struct instrument_result *r = out;
	uint8_t attr[ATTR_MAX] = { 0 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct aux_area aux;
	struct aux_result seen;
	struct own_calls calls;
	uint64_t counted = 0;
	int fd, error;
	void *ring;

	instrument_begin_child();
	fd = instrument_open(p->type, aux_config(p), attr);
	if (fd < 0) {
		*r = instrument_absent(-fd);
		return;
	}
	ring = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED) {
		r->why = "no ring could be mapped";
		return;
	}
	own_calls_init(&calls, NULL);
	error = aux_map(&aux, &calls, fd, ring, 2 * page, PAGES * page, false);
	if (error) {
		*r = instrument_absent(error);
		return;
	}
	instrument_spin();
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	aux_look(&aux, &seen, count_bytes, &counted);
	*r = instrument_judge(seen.bytes, counted, 1, PAGES * page);
}

/* The PMUs that rules.in describes have none. */
void instrument_try_aux(struct host *host, struct instrument_result *r)
{
	struct instrument_result found;

	*r = (struct instrument_result){ .why = "the PMUs cannot be read from sysfs" };
	if (!host || !host_has_pmus(host))
		return;
	*r = (struct instrument_result){
		.verdict = INSTRUMENT_ABSENT, .why = "no PMU here has AUX areas",
	};
	for (const struct pmu *p = host_pmus(host); p; p = p->next) {
		if (pmu_desc_by_name(p->name))
			continue;
		child_run(measure_aux, p, &found, sizeof(found));
		if (found.verdict > r->verdict || r->why)
			*r = found;
	}
}
