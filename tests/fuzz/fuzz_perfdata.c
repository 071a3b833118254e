// SPDX-License-Identifier: LGPL-2.1-or-later
/* perf.data files: their headers, features, and records. */
#include <sys/mman.h>
#include <unistd.h>

#include "formats/perfdata/perfdata.h"
#include "fuzz.h"

const unsigned long fuzz_inputs = 5000;

static void emit(void *ctx, struct sink *s)
{
	const struct perfdata_record *r = ctx;

	sink_begin(s, "record", SINK_OBJECT);
	record_emit(r->bytes, r->len, &r->event->format, NULL, s, NULL);
	sink_end(s);
}

static void take_record(void *ctx, const struct perfdata_record *r)
{
	size_t *shown = ctx;

	if (r->event && (*shown)++ < 8)
		fuzz_sinks(emit, (void *)r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	int fd = memfd_create("perf.data", 0);
	struct perfdata *p;
	size_t shown = 0;
	FILE *f;

	if (fd < 0 || write(fd, data, len) != (ssize_t)len || lseek(fd, 0, SEEK_SET) ||
	    !(f = fdopen(fd, "r")))
		abort();
	p = perfdata_open(f, "perf.data", NULL);
	if (p) {
		for (size_t i = 0; i < perfdata_nevents(p); i++)
			if (!perfdata_event(p, i)->attr_len)
				fuzz_wrong("no attr", "an event");
		perfdata_records(p, take_record, &shown);
		perfdata_close(p);
	}
	fclose(f);
	return 0;
}
