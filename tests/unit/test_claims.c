// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What perf_event_open(2) says, tried on this kernel.  With arguments it prints
 * what it finds: test_claims [PATTERN [nobody]].
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "conform/claims.h"
#include "conform/page.h"
#include "core/lib/buf.h"
#include "core/lib/die.h"
#include "experiment/trial.h"
#include "machine.h"
#include "xlat/tables.h"

#define PAGE "/usr/share/man/man2/perf_event_open.2.gz"

/* Claims that the page makes wrongly, each seen to be wrong by a C program of its own. */
static const struct {
	const char *name, *why;
} wrong[] = {
	{ "flag_output_broken", "FD_OUTPUT works" },
	{ "sample_id_leader", "the id is the event's own" },
	{ "sample_id_group_leader", "the id is the event's own" },
	{ "sample_period", "SAMPLE_PERIOD makes software events and breakpoints overflow each time" },
	{ "stream_id_inherited", "the stream id is that of the child's event" },
	{ "format_id_group", "the id is the event's own" },
	{ "inherit_format_group", "it opens, and counts what children do" },
	{ "mmap2_needs_mmap", "records come as soon as any other event asked for mappings" },
	{ "clockid_all_events", "only clocks that an NMI can read, but for software events" },
	{ "wakeup_events_zero", "0 ends poll at half of the ring only" },
	{ "bp_empty", "EINVAL" },
	{ "bp_r", "x86 has none that only reads trigger" },
	{ "aux_greater", "equality is accepted" },
	{ "record_mmap_pgoff", "it is in bytes" },
	{ "record_mmap2_pgoff", "it is in bytes" },
	{ "txn_abort", "mask first, then shift" },
	{ "refresh_hup_poll", "only the signal's si_code says so" },
	{ "refresh_siblings", "they stay disabled" },
	{ "ioctl_pause_u32", "the kernel tests all bits of it" },
	{ "ioctl_set_output_int", "it must be 64 bits wide" },
	{ "ioctl_set_bpf_right", "only loading the program takes a capability" },
	{ "ioctl_query_bpf_ids_len", "it is left as it was: prog_cnt tells" },
	{ "prctl_leaders_only", "members are enabled, too" },
	{ "mlock_pages", "it is in KiB" },
	{ "e2big_size_always", "a group that is too large does not write it" },
	{ "eopnotsupp_skid", "precise_ip is not looked at" },
	{ "eopnotsupp_interrupt", "the msr PMU says EINVAL" },
	{ "sample_read_alone", "only with PERF_FORMAT_GROUP there are counts of others" },
	{ "exclude_idle_refused", "the msr PMU refuses it" },
	{ "task_not_alone", "comm and mmap add the same records" },
	{ "data_head_backward", "with write_backward it decreases" },
	{ "prctl_threads", "only the events that the calling thread opened" },
};

enum { WRONG = sizeof(wrong) / sizeof(*wrong), CLAIMS_MAX = 1000 };

static bool is_wrong(const char *name)
{
	for (size_t i = 0; i < WRONG; i++)
		if (!strcmp(wrong[i].name, name))
			return true;
	return false;
}

/* The table ---------------------------------------------------------------------------- */

static bool is_check(const char *step, size_t len)
{
	char text[512];

	snprintf(text, sizeof(text), "%.*s", (int)len, step);
	return strstr(text, " -> ") || strstr(text, "expect ") == text ||
	       strstr(text, "count ") == text ||
	       strstr(text, "find ") == text;
}

static void claims_are_enough_and_each_checks_something(void **state)
{
	(void)state;
	assert_true(claim_ndescs >= 150);
	for (const struct claim_desc *c = claim_descs; c->name; c++) {
		bool checks = false;

		for (const char *at = c->steps; *at; at = strchr(at, '\n') + 1)
			checks |= is_check(at, (size_t)(strchr(at, '\n') - at));
		if (!checks)
			fail_msg("%s checks nothing", c->name);
	}
	for (size_t i = 0; i < WRONG; i++) {
		const struct claim_desc *c = claim_descs;

		while (c->name && strcmp(c->name, wrong[i].name))
			c++;
		assert_non_null(c->name);
	}
}

/* Return the line of a claim in a text. */
static unsigned int line_of(struct claim_desc c, const char *source, size_t len)
{
	struct page p;
	unsigned int line;

	page_parse(source, len, "page", &p);
	line = page_find(&p, c.section, c.place);
	page_free(&p);
	return line;
}

/* Return whether the paragraph of a claim has none of the words. */
static bool omits(struct claim_desc c, const char *source, size_t len, const char *words)
{
	struct page p;
	bool none;

	page_parse(source, len, "page", &p);
	none = page_omits(&p, c.section, c.place, words);
	page_free(&p);
	return none;
}

static void each_claim_is_found_in_the_page(void **state)
{
	struct page whole;
	FILE *f = access(PAGE, R_OK) ? NULL : popen("zcat " PAGE, "re");
	struct buf page = { 0 };
	static char room[65536];
	unsigned int missing = 0;
	size_t n;

	(void)state;
	if (!f) {
		print_message("[          ] skipped: " PAGE " is not installed\n");
		skip();
	}
	while ((n = fread(room, 1, sizeof(room), f)) > 0)
		buf_add(&page, room, n);
	assert_int_equal(pclose(f), 0);
	page_parse(page.data, page.len, PAGE, &whole);
	for (const struct claim_desc *c = claim_descs; c->name; c++) {
		if (page_find(&whole, c->section, c->place))
			continue;
		print_message("%s: '%s' is not in %s\n", c->name, c->place, c->section);
		missing++;
	}
	assert_int_equal(missing, 0);
	page_free(&whole);
	/* cut anywhere, it is not looked for beyond the end */
	for (size_t len = 0; len < page.len; len += 997)
		line_of(claim_descs[len % claim_ndescs], page.data, len);
	buf_free(&page);
}

/* Lines are counted as editors do, and fonts and escapes are not in the way. */
static void a_place_is_told_by_its_line(void **state)
{
	static const char page[] = ".SH ONE\n.TP\n.BR a_word \" is here\"\n.SH TWO\n"
				   ".\\\" a_word is not here\nSome text,\n"
				   ".BR a_word \\fB()\\fP\nis \\-1 here.\n";
	struct claim_desc c = { .name = "x", .section = "TWO", .place = "text, a_word() is -1" };

	(void)state;
	assert_int_equal(line_of(c, page, strlen(page)), 6);
	c.place = "is -1 here";
	assert_int_equal(line_of(c, page, strlen(page)), 8);
	c.section = "ONE";
	assert_int_equal(line_of(c, page, strlen(page)), 0);
	c.place = "a_word is here";
	assert_int_equal(line_of(c, page, strlen(page)), 3);
	c.place = "not here";
	assert_int_equal(line_of(c, page, strlen(page)), 0);
}

/* What a page does not say is looked for in the paragraph that should say it. */
static void what_is_unsaid_is_told_by_paragraph(void **state)
{
	static const char page[] =
		".SH ONE\n.TP\n.B A\nFirst text.\n.RS\n.TP\n.B 2\ninner EINVAL.\n.RE\n"
		".IP\nMore\ntext here.\n.TP\n.B B\nOther ENOENT text.\n.SH TWO\nNo tag.\n"
		".PP\nBut EIO\nand so on.\n";
	struct claim_desc c = { .name = "x", .section = "ONE", .place = "First text" };

	(void)state;
	assert_false(omits(c, page, strlen(page), "EINVAL"));
	assert_false(omits(c, page, strlen(page), "nothing,more text"));
	assert_true(omits(c, page, strlen(page), "ENOENT,EINVALID,INVAL"));
	c.place = "text here";
	assert_false(omits(c, page, strlen(page), "einval"));
	c.place = "inner";
	assert_true(omits(c, page, strlen(page), "More"));
	c.place = "Other";
	assert_true(omits(c, page, strlen(page), "EINVAL"));
	c.place = "nowhere";
	assert_false(omits(c, page, 9, "EINVAL"));
	c.section = "TWO";
	c.place = "No tag";
	assert_false(omits(c, page, strlen(page), "EIO"));
	assert_true(omits(c, page, strlen(page), "ENOENT"));
}

/* Trying them ---------------------------------------------------------------------------- */

struct tally {
	unsigned int n[3], odd;
	bool is_true[CLAIMS_MAX];
};

static void count(void *ctx, const struct claim_result *r)
{
	struct tally *t = ctx;
	bool odd = r->verdict == CLAIM_FALSE ? !is_wrong(r->claim->name) || !*r->expected ||
					       !*r->seen :
		   r->verdict == CLAIM_TRUE ? is_wrong(r->claim->name) :
		   !*r->reason || strstr(r->reason, "malformed step") ||
		   strstr(r->reason, "did not end");

	t->n[r->verdict]++;
	t->odd += odd;
	t->is_true[r->claim - claim_descs] = r->verdict == CLAIM_TRUE;
	if (odd)
		print_message("%s: verdict %d; %s%s; %s\n%s\n", r->claim->name, r->verdict,
			      r->reason, r->expected, r->seen, r->calls);
}

static struct tally as_we_are;

/* What is known to be wrong was seen on one release and architecture. */
static void need_the_kernel_that_is_known(void)
{
	struct utsname u;

	assert_int_equal(uname(&u), 0);
	if (!strncmp(u.release, "6.18.", 5) && !strcmp(u.machine, "x86_64"))
		return;
	print_message("[          ] skipped: which claims are false is known of Linux 6.18 on "
		      "x86_64, this is %s on %s\n", u.release, u.machine);
	skip();
}

static void only_what_is_known_to_be_wrong_is_false(void **state)
{
	const struct claims_options o = { .since = 0 };
	int n;

	(void)state;
	need_events();
	need_the_kernel_that_is_known();
	n = conform_claims(&o, count, &as_we_are);
	assert_int_equal(n, as_we_are.n[CLAIM_FALSE]);
	print_message("[          ] %u true, %u false, %u untried\n", as_we_are.n[CLAIM_TRUE],
		      as_we_are.n[CLAIM_FALSE], as_we_are.n[CLAIM_UNTRIED]);
	assert_int_equal(as_we_are.odd, 0);
	assert_true(as_we_are.n[CLAIM_TRUE] > 100);
	/* nothing is left of it */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void the_same_as_an_ordinary_user(void **state)
{
	const struct claims_options o = { .nobody = true };
	struct tally t = { .odd = 0 };

	(void)state;
	need_events();
	need_another_user();
	need_the_kernel_that_is_known();
	conform_claims(&o, count, &t);
	print_message("[          ] %u true, %u false, %u untried\n", t.n[CLAIM_TRUE],
		      t.n[CLAIM_FALSE], t.n[CLAIM_UNTRIED]);
	assert_int_equal(t.odd, 0);
	assert_true(t.n[CLAIM_TRUE] > 100);
}

/* Calls are shown where a claim is false, as a trace of them would show them. */
static void keep_calls(void *ctx, const struct claim_result *r)
{
	buf_adds(ctx, r->calls);
}

static void calls_are_shown_as_a_trace(void **state)
{
	const struct claim_desc c[] = {
		{ "x", "ERRORS", 0, 0, "", "",
		  "open a dummy:u,read_format=ID\nread a 7 -> ok\n", NULL },
		{ .name = NULL },
	};
	const struct claims_options o = { .claims = c, .tries = 1 };
	struct buf calls = { 0 };

	(void)state;
	if (!trial_attr_size()) {
		print_message("[          ] skipped: perf_event_open opens nothing here\n");
		skip();
	}
	assert_int_equal(conform_claims(&o, keep_calls, &calls), 1);
	assert_non_null(strstr(buf_str(&calls), "perf_event_open({type=PERF_TYPE_SOFTWARE"));
	assert_non_null(strstr(buf_str(&calls), "<dummy:u>, 0x"));
	assert_non_null(strstr(buf_str(&calls), "= -1 ENOSPC (No space left on device)"));
	buf_free(&calls);
}

/* Changed expectations ------------------------------------------------------------------- */

struct change {
	const char *from, *to;
};

/* What a check's words become: the first that fits. */
static const struct change operators[] = {
	{ " == ", " != " }, { " != ", " == " }, { " >= ", " < " }, { " <= ", " > " },
	{ " > ", " <= " }, { " < ", " >= " },
};

/* The opposite of the check in a step, behind out; false: there is none, or it is a control's. */
static bool turned(const char *step, size_t len, struct buf *out)
{
	char text[1024];
	char *arrow, *at;

	snprintf(text, sizeof(text), "%.*s", (int)len, step);
	if (strstr(text, "control ") == text)
		return false;
	arrow = strstr(text, " -> ");
	if (arrow) {
		bool find = strstr(text, "find ") == text;

		*arrow = '\0';
		arrow += 4;
		buf_addf(out, "%s -> %s\n", text,
			 find ? (strcmp(arrow, "none") ? "none" : "some") :
			 !strcmp(arrow, "ok") ? "error" : !strcmp(arrow, "error") ? "ok" :
			 *arrow == 'E' ? "EDOM" : "77777");
		return true;
	}
	if (strstr(text, "find ") == text) {
		buf_addf(out, "%s -> none\n", text);
		return true;
	}
	if (strstr(text, "expect ") != text && strstr(text, "count ") != text)
		return false;
	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++) {
		at = strstr(text, operators[i].from);
		if (!at)
			continue;
		buf_add(out, text, (size_t)(at - text));
		buf_addf(out, "%s%s\n", operators[i].to, at + strlen(operators[i].from));
		return true;
	}
	return false;
}

static void keep_verdict(void *ctx, const struct claim_result *r)
{
	*(enum claim_verdict *)ctx = r->verdict;
}

/* Turns the check at step; what is before and behind it stays. */
static void turn_one(const struct claim_desc *c, const char *step, const char *end,
		     unsigned int *n)
{
	struct claim_desc changed[2] = { *c, { .name = NULL } };
	const struct claims_options o = { .claims = changed, .tries = 1 };
	enum claim_verdict v = CLAIM_UNTRIED;
	struct buf steps = { 0 };

	buf_add(&steps, c->steps, (size_t)(step - c->steps));
	if (turned(step, (size_t)(end - step), &steps)) {
		buf_adds(&steps, end + 1);
		changed[0].steps = buf_str(&steps);
		for (int i = 0; i < 4 && v != CLAIM_FALSE; i++)
			conform_claims(&o, keep_verdict, &v);
		if (v != CLAIM_FALSE)
			fail_msg("%s is %d in spite of\n%s", c->name, v, changed[0].steps);
		++*n;
	}
	buf_free(&steps);
}

static void a_changed_expectation_is_seen(void **state)
{
	unsigned int n = 0;
	const char *end;

	(void)state;
	need_events();
	need_the_kernel_that_is_known();
	for (const struct claim_desc *c = claim_descs; c->name; c++) {
		if (!as_we_are.is_true[c - claim_descs])
			continue;
		for (const char *at = c->steps; *at; at = end + 1) {
			end = strchr(at, '\n');
			turn_one(c, at, end, &n);
		}
	}
	print_message("[          ] %u changed expectations\n", n);
	assert_true(n > 300);
}

/* What is written wrongly ------------------------------------------------------------------ */

static void keep_reason(void *ctx, const struct claim_result *r)
{
	assert_int_equal(r->verdict, CLAIM_UNTRIED);
	buf_reset(ctx);
	buf_adds(ctx, r->reason);
}

static void a_wrong_step_is_no_verdict(void **state)
{
	static const char *const steps[] = {
		"", "nonsense", "open", "open a", "read a", "read", "expect 1", "expect 1 == ",
		"expect a.value == 1", "expect 1 ~ 1", "let x", "let x = nothing", "find",
		"find a SAMPLE", "work", "work nothing", "task nothing", "ioctl a ENABLE", "fcntl",
		"map", "poke a data_tail 0", "open a dummy:u poke=5000/9:1",
		"open a dummy:u poke=99999/8:1", "open a nonsense", "catch SIGKILL", "exists",
		"shell", "limit", "needs 1 ==", "expect $nothing == 1", "expect \" == 1",
		"open a dummy:u pid=nothing", "expect 1+ == 1", "expect 1 == (1)", "count",
		"count ", "count a", "count a == 1", "open a dummy:u ring=", "open ring=2",
	};
	struct claim_desc c[2] = { { .name = "x", .section = "", .place = "", .meaning = "" } };
	const struct claims_options o = { .claims = c };
	struct buf reason = { 0 };
	char text[128];

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		snprintf(text, sizeof(text), "%s\n", steps[i]);
		c[0].steps = text;
		conform_claims(&o, keep_reason, &reason);
		assert_true(reason.len > 0);
	}
	buf_free(&reason);
}

/* A control that fails is a reason, and no contradiction. */
static void a_failed_control_is_no_verdict(void **state)
{
	static const struct {
		const char *steps, *reason;
	} all[] = {
		{ "open a dummy:u\nread a\ncontrol expect a.value == 1\nexpect 1 == 2\n",
		  "its control failed: a.value == 1: a.value is 0 (0x0), 1 is 1" },
		{ "open a dummy:u\ncontrol read a 7 -> 8\n",
		  "its control failed: read a 7 -> 8: ENOSPC" },
	};
	struct claim_desc c[2] = { { .name = "x", .section = "", .place = "", .meaning = "" } };
	const struct claims_options o = { .claims = c };
	struct buf reason = { 0 };

	(void)state;
	need_events();
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		c[0].steps = all[i].steps;
		conform_claims(&o, keep_reason, &reason);
		assert_string_equal(buf_str(&reason), all[i].reason);
	}
	buf_free(&reason);
}

static void an_experiment_without_an_end_is_ended(void **state)
{
	const struct claim_desc c[] = {
		{ "x", "", 0, 0, "", "", "work spin 60000\n", NULL }, { .name = NULL },
	};
	const struct claims_options o = { .claims = c, .tries = 1 };
	struct buf reason = { 0 };

	(void)state;
	need_events();
	conform_claims(&o, keep_reason, &reason);
	assert_non_null(strstr(buf_str(&reason), "did not end"));
	buf_free(&reason);
}

/* Releases and selection ------------------------------------------------------------------- */

static void count_all(void *ctx, const struct claim_result *r)
{
	(void)r;
	++*(unsigned int *)ctx;
}

static void claims_of_other_releases_are_not_tried(void **state)
{
	struct claim_desc c[] = {
		{ "x", "", KVER(200, 1, 0), 0, "", "", "expect 1 == 2\n", NULL }, { .name = NULL },
	};
	const struct claims_options o = { .claims = c };
	struct buf reason = { 0 };

	(void)state;
	need_events();
	conform_claims(&o, keep_reason, &reason);
	assert_string_equal(buf_str(&reason), "it applies to Linux 200.1 and later");
	c[0].since = 0;
	c[0].until = KVER(2, 6, 33);
	conform_claims(&o, keep_reason, &reason);
	assert_string_equal(buf_str(&reason), "it applies to Linux before 2.6");
	buf_free(&reason);
}

static void claims_are_selected(void **state)
{
	unsigned int n = 0;
	struct claims_options o = { .name = "efault_*" };

	(void)state;
	conform_claims(&o, count_all, &n);
	assert_int_equal(n, 1);
	o = (struct claims_options){ .section = "return value" };
	n = 0;
	conform_claims(&o, count_all, &n);
	assert_int_equal(n, 2);
	o = (struct claims_options){ .since = KVER(6, 0, 0) };
	n = 0;
	conform_claims(&o, count_all, &n);
	assert_int_equal(n, 6);
}

/* By hand ------------------------------------------------------------------------------------ */

static void print(void *ctx, const struct claim_result *r)
{
	static const char *const words[] = { "untried", "true", "FALSE" };

	(void)ctx;
	printf("%-8s %s (%u)", words[r->verdict], r->claim->name, r->tries);
	if (*r->reason)
		printf(": %s", r->reason);
	if (r->verdict == CLAIM_FALSE)
		printf(": %s; expected: %s; seen: %s\n%s", r->claim->meaning, r->expected,
		       r->seen, r->calls);
	puts("");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(claims_are_enough_and_each_checks_something),
		cmocka_unit_test(each_claim_is_found_in_the_page),
		cmocka_unit_test(a_place_is_told_by_its_line),
		cmocka_unit_test(what_is_unsaid_is_told_by_paragraph),
		cmocka_unit_test(only_what_is_known_to_be_wrong_is_false),
		cmocka_unit_test(the_same_as_an_ordinary_user),
		cmocka_unit_test(calls_are_shown_as_a_trace),
		cmocka_unit_test(a_changed_expectation_is_seen),
		cmocka_unit_test(a_wrong_step_is_no_verdict),
		cmocka_unit_test(a_failed_control_is_no_verdict),
		cmocka_unit_test(an_experiment_without_an_end_is_ended),
		cmocka_unit_test(claims_of_other_releases_are_not_tried),
		cmocka_unit_test(claims_are_selected),
	};

	if (argc > 1) {
		conform_claims(&(const struct claims_options){
			.name = argv[1], .nobody = argc > 2 }, print, NULL);
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
