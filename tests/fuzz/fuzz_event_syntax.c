// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Events as people write them, on a machine that is the same each time: it has no
 * PMU of its own and no tracepoints.
 */
#include "fuzz.h"
#include "core/host/event_syntax.h"
#include "xlat/layouts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct host *host;
	struct event_list l = { 0 };
	char *text = malloc(len + 1);

	if (!host)
		host = host_new("/proc/self/fdinfo", "/proc/self/fdinfo");
	memcpy(text, data, len);
	text[len] = '\0';
	if (event_list_add(&l, host, text)) {
		for (size_t i = 0; i < l.n; i++)
			if (l.events[i].leader > i || l.events[i].attr.len > ATTR_TEXT_MAX)
				fuzz_wrong("no leader or length", text);
	} else if (l.n || !l.why[0] || l.at > strlen(text)) {
		fuzz_wrong(l.why[0] ? l.why : "no reason", text);
	}
	event_list_free(&l);
	free(text);
	return 0;
}
