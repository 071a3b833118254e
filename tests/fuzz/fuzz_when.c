// SPDX-License-Identifier: LGPL-2.1-or-later
/* Conditions on a call; what holds does not hold the other way round. */
#include "core/abi/layout.h"
#include "core/abi/when.h"
#include "fuzz.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

static struct when *read_condition(const char *text, size_t len)
{
	const struct call_desc *calls[] = { call_by_name("perf_event_open"),
					    call_by_name("ioctl") };
	struct text_cursor c = { .at = text, .end = text + len };
	struct when *w = when_read(&c, calls, 2, NULL);

	if (!w && !c.why[0])
		fuzz_wrong("no reason", "a condition");
	if (!w && fuzz_shows())
		printf("%s\n", c.why);
	return w;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct call c = { .desc = call_by_name("perf_event_open"), .arch = arch_native(),
			  .args = { 0, 0, (uint64_t)-1, (uint64_t)-1 } };
	uint8_t attr[PERF_ATTR_SIZE_VER7] = { 0 };
	struct when *w = read_condition((const char *)data, len), *not;
	struct buf turned = { 0 };

	if (!w)
		return 0;
	field_set(&layout_perf_event_attr.fields[ATTR_TYPE], PERF_TYPE_SOFTWARE, attr);
	field_set(&layout_perf_event_attr.fields[ATTR_PRECISE_IP], 2, attr);
	buf_adds(&turned, "!(");
	buf_add(&turned, data, len);
	buf_addc(&turned, ')');
	not = read_condition(buf_str(&turned), turned.len);
	if (not && when_holds(w, &c, attr, sizeof(attr)) ==
		   when_holds(not, &c, attr, sizeof(attr)))
		fuzz_wrong("true as its contrary is", buf_str(&turned));
	if (fuzz_shows())
		printf("%d\n", when_holds(w, &c, attr, sizeof(attr)));
	when_free(not);
	when_free(w);
	buf_free(&turned);
	return 0;
}
