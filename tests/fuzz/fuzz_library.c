// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The functions of pevtrace.h, on any bytes: texts have the length that is returned, are
 * truncated where told, and have no control bytes; visits end what they begin.
 */
#include <errno.h>

#include "fuzz.h"
#include "public/pevtrace.h"

enum { TEXT_MAX = 1 << 20 };

static char text[TEXT_MAX];

/* A visit: how many objects are open. */
static int count_levels(void *ctx, const struct pevtrace_item *item)
{
	int *depth = ctx;
	char value[64];
	size_t at = 0;
	uint64_t rest = item->number;

	*depth += item->kind == PEVTRACE_OBJECT || item->kind == PEVTRACE_ARRAY;
	*depth -= item->kind == PEVTRACE_END;
	while (pevtrace_item_flag(item, &at, &rest))
		;
	if (pevtrace_item_text(item, value, sizeof(value)) >= (ssize_t)sizeof(value) &&
	    strlen(value) != sizeof(value) - 1)
		fuzz_wrong("not truncated to its size", value);
	return 0;
}

static int stop_at_once(void *ctx, const struct pevtrace_item *item)
{
	(void)item;
	++*(int *)ctx;
	return 7;
}

static int count_needs(void *ctx, const struct pevtrace_need *need)
{
	(void)ctx;
	if (!*need->name || !need->since)
		fuzz_wrong("a need without name or release", need->name);
	return 0;
}

static void check_printed(ssize_t len, unsigned int how)
{
	if (len == -EINVAL && (how & 0xff) == PEVTRACE_C)
		return; /* too short, or no attr */
	if (len < 0 || len >= TEXT_MAX || strlen(text) != (size_t)len)
		fuzz_wrong("not of the length that was returned", text);
	for (ssize_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < ' ' && ((how & 0xff) != PEVTRACE_C ||
						     !strchr("\n\t", text[i])))
			fuzz_wrong("a control byte in", text);
}

/* The input: an attr, and further bytes. */
struct input {
	const uint8_t *attr, *bytes;
	size_t attr_len, len;
	uint64_t request, argument;
};

static void print_all(const struct pevtrace_machine *m, const struct input *in, unsigned int how)
{
	struct pevtrace_ioctl call = {
		.size = sizeof(call), .request = in->request, .argument = in->argument,
		.before = in->bytes, .before_len = in->len, .after = in->bytes,
		.after_len = in->len, .returned = in->len & 1, .error = in->len & 2 ? EINVAL : 0,
	};
	int depth = 0, calls = 0;

	check_printed(pevtrace_attr_print(m, in->attr, in->attr_len, how, text, TEXT_MAX), how);
	check_printed(pevtrace_ioctl_print(m, &call, how, text, TEXT_MAX), how);
	check_printed(pevtrace_record_print(m, in->attr, in->attr_len, in->bytes, in->len, how,
					    text, TEXT_MAX), how);
	check_printed(pevtrace_counts_print(m, in->attr, in->attr_len, in->bytes, in->len, how,
					    text, TEXT_MAX), how);
	if (pevtrace_attr_visit(m, in->attr, in->attr_len, how, count_levels, &depth) ||
	    pevtrace_ioctl_visit(m, &call, how, count_levels, &depth) ||
	    pevtrace_record_visit(m, in->attr, in->attr_len, in->bytes, in->len, how,
				  count_levels, &depth) ||
	    pevtrace_counts_visit(m, in->attr, in->attr_len, in->bytes, in->len, how,
				  count_levels, &depth) || depth)
		fuzz_wrong("a visit that does not end", "what it begins");
	if (pevtrace_attr_visit(m, in->attr, in->attr_len, how, stop_at_once, &calls) != 7 ||
	    calls != 1)
		fuzz_wrong("a visit that goes on", "");
}

static void judge(const struct pevtrace_machine *m, const struct input *in)
{
	struct pevtrace_open call = {
		.size = sizeof(call), .attr = in->attr, .attr_len = in->attr_len,
		.pid = (int32_t)in->request, .cpu = (int32_t)in->argument, .group_fd = -1,
		.flags = in->argument >> 32, .leader = in->bytes, .leader_len = in->len,
	};
	struct pevtrace_verdict verdict = { .size = sizeof(verdict) };

	if (pevtrace_judge(m, &call, &verdict) || !verdict.error != !verdict.rule)
		fuzz_wrong("a verdict without its check", verdict.rule ? verdict.rule : "");
	if (verdict.error && pevtrace_find_cause(m, &call, verdict.error, &verdict))
		fuzz_wrong("no cause of", verdict.rule);
	pevtrace_needs(in->attr, in->attr_len, call.flags, count_needs, NULL);
	check_printed(pevtrace_event_name(m, in->attr, in->attr_len, text, TEXT_MAX),
		      PEVTRACE_TEXT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct pevtrace_machine *m = pevtrace_machine_new();
	uint64_t head = fuzz_word(&data, &len);
	struct input in = { .request = fuzz_word(&data, &len), .argument = fuzz_word(&data, &len) };
	static const uint64_t requests[] = {
		0x2400, 0x40082404, 0x40082406, 0xc008240a, 0x4008240b,
	};

	if (head & 0x10000)
		in.request = requests[in.request % 5];
	in.attr = data;
	in.attr_len = (head & 0xfff) < len ? head & 0xfff : len;
	in.bytes = data + in.attr_len;
	in.len = len - in.attr_len;
	pevtrace_machine_set(m, PEVTRACE_FACT_RELEASE, head >> 40);
	pevtrace_machine_set(m, PEVTRACE_FACT_PARANOID, head >> 32 & 3);
	pevtrace_machine_set(m, PEVTRACE_FACT_CAPABILITIES, head & 0x20000 ? UINT64_MAX : 0);
	pevtrace_machine_add_pmu(m, 12, "msr");
	for (unsigned int form = PEVTRACE_TEXT; form <= PEVTRACE_C; form++)
		print_all(head & 0x40000 ? m : NULL, &in,
			  form | (head & 0x80000 ? PEVTRACE_ALL : 0) |
			  (head & 0x100000 ? PEVTRACE_FOLLOW : 0));
	judge(head & 0x40000 ? m : NULL, &in);
	pevtrace_machine_free(m);
	return 0;
}
