// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What is read back of a dump, whatever is done to it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include <json-c/json_tokener.h>

#include "core/abi/call_decode.h"
#include "formats/dump/dump_read.h"
#include "formats/dump/dump_view_internal.h"
#include "formats/dump/reader.h"
#include "formats/json/json_text.h"
#include "fake.h"
#include "core/lib/buf.h"
#include "core/lib/map.h"
#include "scan_oracle.h"
#include "core/session/session.h"
#include "xlat/tables.h"

/* Messages of what is read go nowhere while this lasts. */
static int quiet(void)
{
	int saved = dup(STDERR_FILENO);

	fflush(stderr);
	assert_non_null(freopen("/dev/null", "w", stderr));
	return saved;
}

static void loud(int saved)
{
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
}

/* A dump with a line of every kind ---------------------------------------- */

#define HEADER "{\"kind\":\"header\",\"schema\":1,\"pevtrace\":\"0.1\","	\
	"\"kernel\":{\"sysname\":\"Linux\",\"release\":\"6.1\","			\
	"\"version\":\"1\",\"machine\":\"x86_64\"},\"arch\":\"x86_64\","	\
	"\"page_size\":4096,\"command\":[\"a\",\"b c\"],\"attached\":[7],"	\
	"\"started\":\"2026-01-01T00:00:00.000000Z\",\"start_ns\":100,"		\
	"\"real_offset_ns\":-5,\"warning\":\"w\"}\n"
#define TASK "{\"kind\":\"task\",\"tid\":7,\"ns\":101,\"pid\":7,\"parent\":0,"	\
	"\"attached\":true,\"shares_files\":false,\"shares_memory\":true}\n"
#define FOUND "{\"kind\":\"found\",\"tid\":7,\"fd\":9,\"cloexec\":true,"	\
	"\"event\":1}\n"
#define FOUND_RING "{\"kind\":\"found_ring\",\"tid\":7,\"ring\":1,"		\
	"\"start\":\"0x1000\",\"end\":\"0x3000\"}\n"
#define CLOSED "{\"kind\":\"closed\",\"tid\":7,\"fd\":9}\n"
#define COMM "{\"kind\":\"comm\",\"tid\":7,\"comm\":\"a\\u0001\\\"b\"}\n"
#define NAMES "{\"kind\":\"name\",\"of\":\"pmu\",\"name\":\"cpu\",\"type\":4}\n"	\
	"{\"kind\":\"name\",\"of\":\"pmu\",\"name\":null,\"type\":99}\n"	\
	"{\"kind\":\"name\",\"of\":\"tracepoint\",\"name\":\"s:t\",\"id\":318}\n" \
	"{\"kind\":\"name\",\"of\":\"format\",\"name\":\"name: t\\n\",\"id\":318}\n" \
	"{\"kind\":\"name\",\"of\":\"terms\",\"name\":\"cpu/e=1/\",\"type\":4,"	\
	"\"config\":[\"0x1\",\"0x0\",\"0x0\",\"0x0\"]}\n"			\
	"{\"kind\":\"name\",\"of\":\"symbol\",\"name\":\"main\",\"pid\":-1,"	\
	"\"ip\":\"0x400000\",\"cpumode\":2}\n"					\
	"{\"kind\":\"name\",\"of\":\"fd\",\"name\":\"/x\",\"tid\":7,\"fd\":3}\n"
#define CALL "{\"kind\":\"call\",\"call\":\"perf_event_open\",\"tid\":7,"	\
	"\"pid\":7,\"arch\":\"x86_64\",\"nr\":298,\"raw\":[\"0x1000\",\"0x0\","	\
	"\"0xffffffff\",\"0xffffffff\",\"0x8\"],\"enter_ns\":110,"		\
	"\"shown\":true,\"stack\":[{\"module\":\"m\",\"symbol\":null,"		\
	"\"offset\":\"0x1\",\"ip\":\"0x2\"},{\"why\":\"because\"}],"		\
	"\"start_ns\":111,\"exit_ns\":112,\"args\":{},\"ret\":3,"		\
	"\"event\":2,\"event_name\":\"e\",\"memory\":[{\"at\":\"enter\","	\
	"\"addr\":\"0x1000\",\"want\":8,\"hex\":\"0100000040000000\"}]}\n"
#define ENTER "{\"kind\":\"enter\",\"call\":\"close\",\"tid\":7,\"pid\":7,"	\
	"\"arch\":\"x86_64\",\"nr\":3,\"raw\":[\"0x3\"],\"enter_ns\":120,"	\
	"\"shown\":false,\"args\":{},\"memory\":[]}\n"
#define RECORD "{\"kind\":\"record\",\"tid\":7,\"ns\":121,\"ring\":1,"		\
	"\"event\":2,\"sure\":true,\"record\":{},\"hex\":\"0200000000000800\"}\n"
#define LOOK "{\"kind\":\"look\",\"tid\":7,\"ns\":122,\"ring\":1,"		\
	"\"missed\":18446744073709551614,\"torn\":true,\"page\":\"00ff\"}\n"
#define SIGNAL "{\"kind\":\"signal\",\"tid\":7,\"ns\":123,"			\
	"\"signal\":\"SIGIO\",\"info\":{},\"hex\":\"1d000000\",\"shown\":true}\n"
#define EXIT "{\"kind\":\"exit\",\"call\":\"close\",\"tid\":7,\"start_ns\":121,"	\
	"\"exit_ns\":124,\"args\":{},\"ret\":-1,\"errno\":9,"			\
	"\"error\":\"EBADF\",\"memory\":[]}\n"
#define EXEC "{\"kind\":\"exec\",\"tid\":7,\"ns\":125,\"former\":8,"		\
	"\"exe\":\"/bin/true\",\"shown\":true}\n"
#define ID "{\"kind\":\"id\",\"event\":2,\"id\":22}\n"
#define COUNT "{\"kind\":\"count\",\"event\":2,\"id\":22,\"count\":5,"		\
	"\"read_format\":\"0x3\",\"time_enabled\":6,\"time_running\":7}\n"
#define GONE "{\"kind\":\"gone\",\"tid\":7,\"ns\":130,\"how\":\"exit\","	\
	"\"status\":15,\"signal\":\"SIGTERM\",\"core\":false,\"shown\":true}\n"
#define ABANDONED "{\"kind\":\"abandoned\",\"tid\":7,\"ns\":130,"		\
	"\"call\":\"close\",\"detached\":false}\n"
#define END "{\"kind\":\"end\",\"ns\":130,\"calls\":2,\"records\":1,"		\
	"\"missed\":0,\"tasks\":1}\n"
#define DUMP HEADER TASK FOUND FOUND_RING COMM NAMES CALL ENTER RECORD LOOK SIGNAL EXIT	\
	ENTER EXEC ID COUNT CLOSED ABANDONED GONE END

/* What it tells, as letters, and the sum of what there is to look at. */
struct told {
	struct view view;
	char text[4096];
	size_t n;
	unsigned long sum;
	uint64_t last;
	struct map begun;	/* tid to call: views look at it until its end */
};

/* Reads all of it: what is not there is a matter for the sanitizers. */
static void touch(struct told *t, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < len; i++)
		t->sum += p[i];
}

static void touch_text(struct told *t, const char *text)
{
	if (text)
		touch(t, text, strlen(text) + 1);
}

static void tell(struct told *t, char what)
{
	const struct map_slot *slot;
	size_t at = 0;

	if (t->n < sizeof(t->text) - 1)
		t->text[t->n++] = what;
	while ((slot = map_next(&t->begun, &at)))
		touch(t, slot->value, sizeof(struct call));
}

static struct told *told_of(struct view *v)
{
	return (struct told *)v; /* view is its first member */
}

static void on_born(struct view *v, const struct activity *a)
{
	const struct activity_task *b = &a->task;

	tell(told_of(v), 'b');
	assert_true(b->tid + 1 >= 0 && b->tid + 1 <= INT32_MAX);
}

static void on_found(struct view *v, const struct activity *a)
{
	tell(told_of(v), 'f');
	touch_text(told_of(v), a->found.event->name);
}

static void on_found_ring(struct view *v, const struct activity *a)
{
	tell(told_of(v), 'm');
	assert_true(a->found_ring.ring->start < a->found_ring.ring->end);
}

static void on_comm(struct view *v, const struct activity *a)
{
	tell(told_of(v), 'c');
	touch_text(told_of(v), a->comm.comm);
}

static void touch_call(struct told *t, const struct call *c)
{
	struct json_text j;
	struct buf line;

	assert_non_null(c->desc);
	assert_non_null(c->arch);
	touch(t, c->args, sizeof(c->args));
	for (size_t i = 0; i < c->ncaptures; i++)
		touch(t, c->pool.data ? c->pool.data + c->captures[i].at : NULL,
		      c->captures[i].len);
	json_text_begin(&j);
	call_args(c, AT_SYSCALL_ENTER, &fake_names, &j.sink);
	call_args(c, AT_SYSCALL_EXIT, &fake_names, &j.sink);
	call_results(c, &fake_names, &j.sink);
	call_result_notes(c, &fake_names, &j.sink);
	line = json_text_end(&j);
	touch_text(t, buf_str(&line));
	buf_free(&line);
}

static void on_enter(struct view *v, const struct call *c)
{
	struct told *t = told_of(v);

	tell(t, 'e');
	touch_call(t, c);
	map_set(&t->begun, (uint64_t)c->tid, (void *)c);
}

static void on_exit_of(struct view *v, const struct call *c)
{
	struct told *t = told_of(v);

	tell(t, 'x');
	assert_true(c->returned);
	touch_call(t, c);
	assert_ptr_equal(map_del(&t->begun, (uint64_t)c->tid), c);
}

static void on_abandon(struct view *v, const struct activity *a)
{
	const struct call *c = a->abandoned.call;
	struct told *t = told_of(v);

	tell(t, 'a');
	touch_call(t, c);
	assert_ptr_equal(map_del(&t->begun, (uint64_t)c->tid), c);
}

static void on_stack(struct view *v, pid_t tid, const struct view_frame *frames, size_t n,
		     const char *why)
{
	struct told *t = told_of(v);

	(void)tid;
	tell(t, 's');
	for (size_t i = 0; i < n; i++) {
		touch_text(t, frames[i].module);
		touch_text(t, frames[i].symbol);
	}
	touch_text(t, why);
}

static void on_record(struct view *v, const struct activity *a)
{
	const struct activity_record *r = &a->record;

	tell(told_of(v), 'r');
	touch(told_of(v), r->bytes, r->len);
	touch_text(told_of(v), r->event->name);
	assert_true(r->ring->number > 0);
}

static void on_looked(struct view *v, const struct activity *a)
{
	const struct activity_look *l = &a->look;
	struct told *t = told_of(v);

	tell(t, 'l');
	t->last = l->missed;
	touch(t, l->page, l->page_len);
}

static void on_learnt_id(struct view *v, const struct activity *a)
{
	tell(told_of(v), 'd');
	assert_true(a->id.event->number > 0);
}

static void on_count(struct view *v, const struct activity *a)
{
	tell(told_of(v), 'n');
	assert_true(a->count.event->count.known);
}

static void on_signalled(struct view *v, const struct activity *a)
{
	tell(told_of(v), 'i');
	touch(told_of(v), &a->signal.info, sizeof(a->signal.info));
}

static void on_execed(struct view *v, const struct activity *a)
{
	const struct activity_exec *x = &a->exec;
	struct told *t = told_of(v);
	struct call *c;

	tell(t, 'X');
	touch_text(t, x->exe);
	c = x->former == x->tid ? NULL : map_del(&t->begun, (uint64_t)x->former);
	if (c)
		map_set(&t->begun, (uint64_t)x->tid, c);
}

static void on_gone(struct view *v, const struct activity *a)
{
	tell(told_of(v), 'g');
	assert_null(map_get(&told_of(v)->begun, (uint64_t)a->gone.tid));
}

static const struct view_ops ops = {
	.on[ACTIVITY_TASK] = on_born,
	.on[ACTIVITY_FOUND] = on_found,
	.on[ACTIVITY_FOUND_RING] = on_found_ring,
	.on[ACTIVITY_COMM] = on_comm,
	.enter = on_enter,
	.exit = on_exit_of,
	.on[ACTIVITY_ABANDONED] = on_abandon,
	.stack = on_stack,
	.on[ACTIVITY_RECORD] = on_record,
	.on[ACTIVITY_LOOK] = on_looked,
	.on[ACTIVITY_ID] = on_learnt_id,
	.on[ACTIVITY_COUNT] = on_count,
	.on[ACTIVITY_SIGNAL] = on_signalled,
	.on[ACTIVITY_EXEC] = on_execed,
	.on[ACTIVITY_GONE] = on_gone,
};

/* Feeds a session that has no other view; true when the dump is whole. */
static bool feed(struct reader *r, struct told *t)
{
	const struct session_setup setup = {
		.source = reader_names(r), .keep = true, .fd_names = true, .symbols = true,
		.stacks = true,
	};
	struct session s;
	bool whole;

	t->view.ops = &ops;
	session_start(&s, &setup, reader_facts(r));
	session_add_view(&s, &t->view);
	whole = reader_run(r, &s);
	session_end(&s);
	return whole;
}

/* Reads what is in memory; true when it is a whole dump. */
static bool run(const char *data, size_t len, bool keep_going, struct told *t)
{
	FILE *f = fmemopen((void *)data, len ? len : 1, "r");
	struct reader *r;
	bool whole = false;

	memset(t, 0, sizeof(*t));
	assert_non_null(f);
	if (!len)
		fseek(f, 0, SEEK_END);
	r = reader_open(f, "memory", keep_going);
	if (r) {
		const struct names *n = reader_names(r);
		const uint64_t config[4] = { 1 };

		whole = feed(r, t);
		touch_text(t, n->pmu(n, 4));
		touch_text(t, n->tracepoint(n, 318));
		touch_text(t, n->format(n, 318));
		touch_text(t, n->terms(n, 4, config, 4));
		touch_text(t, n->symbol(n, -1, 0x400000, 2, false));
		for (char *const *word = reader_facts(r)->command; *word; word++)
			touch_text(t, *word);
	}
	map_free(&t->begun);
	reader_close(r);
	fclose(f);
	return whole;
}

static void test_whole(void **state)
{
	struct told t;

	(void)state;
	assert_true(run(DUMP, strlen(DUMP), false, &t));
	assert_string_equal(t.text, "bfmcesxerlixeXdnag");
	assert_true(t.last == UINT64_MAX - 1);
	/* the newline behind the last line may be missing */
	assert_true(run(DUMP, strlen(DUMP) - 1, false, &t));
}

static void test_names(void **state)
{
	static const char dump[] = HEADER NAMES END;
	FILE *f = fmemopen((void *)dump, strlen(dump), "r");
	struct reader *r = reader_open(f, "memory", false);
	const uint64_t one[4] = { 1 }, two[4] = { 2 };
	struct call c = { .tid = 7 };
	const struct names *n;
	struct told t = { 0 };

	(void)state;
	assert_non_null(r);
	n = reader_names(r);
	assert_null(n->pmu(n, 4));
	assert_true(feed(r, &t));
	assert_string_equal(n->pmu(n, 4), "cpu");
	assert_null(n->pmu(n, 99));
	assert_null(n->pmu(n, 5));
	assert_string_equal(n->tracepoint(n, 318), "s:t");
	assert_string_equal(n->format(n, 318), "name: t\n");
	assert_string_equal(n->terms(n, 4, one, 4), "cpu/e=1/");
	assert_null(n->terms(n, 4, two, 4));
	assert_null(n->terms(n, 8, one, 4));
	assert_string_equal(n->symbol(n, -1, 0x400000, 2, false), "main");
	assert_null(n->symbol(n, 0, 0x400000, 2, false));
	assert_string_equal(n->fd(n, &c, 3), "/x");
	assert_null(n->fd(n, &c, 4));
	assert_int_equal(n->page_size, 4096);
	assert_string_equal(reader_facts(r)->release, "6.1");
	assert_int_equal(reader_facts(r)->real_offset, -5);
	assert_string_equal(reader_facts(r)->command[1], "b c");
	assert_null(reader_facts(r)->command[2]);
	reader_close(r);
	fclose(f);
}

/* Cut off behind every byte: never whole, and never more than was there. */
static void test_cut(void **state)
{
	struct told all, t;
	int saved;

	(void)state;
	assert_true(run(DUMP, strlen(DUMP), false, &all));
	saved = quiet();
	for (size_t len = 0; len < strlen(DUMP) - 1; len++) {
		bool whole = run(DUMP, len, len % 2, &t);

		if (whole || strncmp(all.text, t.text, t.n)) {
			loud(saved);
			fail_msg("cut at %zu: whole %d, '%s'", len, whole, t.text);
		}
	}
	loud(saved);
}

/* A call whose end cannot be read goes on, until something else ends it. */
static void test_no_end(void **state)
{
	static const char *const bad[] = {
		"{\"kind\":\"exit\",\"tid\":7,\"start_ns\":1,\"exit_ns\":2,\"ret\":0}\n",
		"{\"kind\":\"exit\",\"tid\":7,\"ret\":true,\"memory\":[]}\n",
		"{\"kind\":\"gone\",\"tid\":7,\"ns\":1,\"how\":\"no\"}\n",
		"{\"kind\":\"enter\",\"tid\":7,\"call\":\"no\",\"arch\":\"x86\"}\n",
	};
	static const struct { const char *next, *told; } then[] = {
		{ EXIT GONE, "ecxg" }, { GONE, "ecag" }, { ENTER EXIT, "ecex" },
		{ ENTER GONE, "eceag" }, { EXEC, "ecX" },
		{ "{\"kind\":\"exec\",\"tid\":8,\"ns\":125,\"former\":7}\n", "ecX" },
	};
	int saved = quiet();

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		for (size_t k = 0; k < sizeof(then) / sizeof(*then); k++) {
			struct buf text = { 0 };
			struct told t;

			buf_addf(&text, HEADER ENTER "%s" COMM "%s" END, bad[i], then[k].next);
			assert_false(run(text.data, text.len, true, &t));
			buf_free(&text);
			if (strcmp(t.text, then[k].told)) {
				loud(saved);
				fail_msg("%zu, %zu: %s", i, k, t.text);
			}
		}
	loud(saved);
}

/* Where the first thread is in a call itself, while another one's exec ends it. */
static void test_exec_takes_over(void **state)
{
	static const char dump[] = HEADER ENTER
		"{\"kind\":\"enter\",\"call\":\"close\",\"tid\":8,\"pid\":7,"
		"\"arch\":\"x86_64\",\"nr\":3,\"raw\":[\"0x3\"],\"enter_ns\":120,"
		"\"shown\":false,\"args\":{},\"memory\":[]}\n" EXEC COMM EXIT GONE END;
	struct told t;

	(void)state;
	assert_true(run(dump, strlen(dump), false, &t));
	assert_string_equal(t.text, "eeXcxg");
}

/* An open that gave no descriptor has not succeeded. */
static void test_no_descriptor(void **state)
{
	static const char call[] = CALL;
	static const char *const rets[] = { "-1", "2147483648", "\"0xffffffff\"" };
	int saved = quiet();

	(void)state;
	for (size_t i = 0; i < sizeof(rets) / sizeof(*rets); i++) {
		const char *ret = strstr(call, "\"ret\":3");
		struct buf text = { 0 };
		struct told t;

		buf_addf(&text, HEADER "%.*s\"ret\":%s%s" END, (int)(ret - call), call,
			 rets[i], ret + 7);
		assert_false(run(text.data, text.len, true, &t));
		assert_string_equal(t.text, "es");
		buf_free(&text);
	}
	loud(saved);
}

static void mutate(char *data, size_t *len, size_t room)
{
	static const char *const words[] = {
		"null", "-1", "18446744073709551614", "99999999999999999999", "{}", "[]",
		"\"0x\"", "\"\"", "true", "1e9", "\"enter\"", "4294967296",
		"\"0xffffffffffffffff\"", "\\u0000", "\"hex\":\"0\"", "\n", "\xff", "[[[[",
	};
	size_t at = (size_t)random() % *len, n = 1 + (size_t)random() % 40, from;
	const char *word = words[(size_t)random() % (sizeof(words) / sizeof(*words))];

	switch (random() % 6) {
	case 0:
		data[at] = (char)random();
		break;
	case 1:
		data[at] ^= (char)(1 << random() % 8);
		break;
	case 2:		/* away with it */
		if (at + n > *len)
			n = *len - at;
		if (n == *len)
			break;
		memmove(data + at, data + at + n, *len - at - n);
		*len -= n;
		break;
	case 3:		/* twice */
		if (at + n > *len || *len + n > room)
			break;
		memmove(data + at + n, data + at, *len - at);
		*len += n;
		break;
	case 4:		/* another value */
		while (at < *len && data[at] != ':')
			at++;
		from = ++at;
		while (at < *len && !strchr(",}\n", data[at]))
			at++;
		if (at >= *len || *len + strlen(word) > room)
			break;
		memmove(data + from + strlen(word), data + at, *len - at);
		memcpy(data + from, word, strlen(word));
		*len += strlen(word) - (at - from);
		break;
	case 5:		/* a line somewhere else */
		from = (size_t)random() % *len;
		if (from + n <= *len && at + n <= *len)
			memmove(data + at, data + from, n);
		break;
	}
}

static void test_mutations(void **state)
{
	enum { ROUNDS = 20000 };
	size_t room = 2 * strlen(DUMP) + 1024, whole = 0, told = 0;
	int saved = quiet();

	(void)state;
	srandom(20260601);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		size_t len = strlen(DUMP);
		/* as large as it is, so that one byte too far is seen */
		char *data = malloc(room), *exact;
		struct told t;

		memcpy(data, DUMP, len);
		for (long n = 1 + random() % 4; n; n--)
			mutate(data, &len, room);
		exact = malloc(len);
		memcpy(exact, data, len);
		whole += run(exact, len, random() % 4, &t);
		told += t.n;
		free(exact);
		free(data);
	}
	loud(saved);
	/* it is the reader that is tried, not the check of its first line */
	assert_true(whole >= 1 && whole <= ROUNDS - 1);
	assert_true(told >= ROUNDS * 5 && told <= ROUNDS * 30);
}

/* The reader itself ----------------------------------------------------------- */

static struct dump_reader *open_reader(FILE **f, const char *data, size_t len)
{
	*f = fmemopen((void *)data, len, "r");
	return dump_reader_new(*f);
}

static void test_lines(void **state)
{
	static const char data[] = "{\"a\":1}\nxx\n\n{\"a\":2} \n[1]\n{\"a\":3}x\n"
				   "{\"a\":\"\xff\"}\n{\"a\"\n{\"a\":0}";
	static const enum dump_line want[] = {
		DUMP_LINE, DUMP_BAD, DUMP_BAD, DUMP_LINE, DUMP_BAD, DUMP_BAD,
		DUMP_BAD, DUMP_BAD, DUMP_LINE, DUMP_EOF, DUMP_EOF,
	};
	struct json_value *o;
	FILE *f;
	struct dump_reader *r = open_reader(&f, data, sizeof(data) - 1);

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		enum dump_line got = dump_next(r, &o);

		assert_int_equal(got, want[i]);
		if (got == DUMP_BAD)
			assert_int_not_equal(*dump_error(r), '\0');
		assert_int_equal(dump_line_number(r), i < 9 ? i + 1 : 9);
	}
	dump_reader_free(r);
	fclose(f);
}

static void test_members(void **state)
{
	static const char data[] =
		"{\"i\":-1,\"u\":18446744073709551614,\"b\":true,\"s\":\"x\","
		"\"h\":\"0xFf\",\"n\":null,\"f\":1.5,\"hex\":\"00fF\",\"odd\":\"0\","
		"\"h0\":\"0x\",\"h1\":\"12\",\"h2\":\"0x1g\",\"a\":[],"
		"\"h3\":\"0x10000000000000000\",\"h4\":\"0x-1\",\"h5\":\"0x 1\","
		"\"empty\":\"\",\"bad\":\"0g\"}\n";
	struct json_value *o;
	uint8_t *bytes;
	uint64_t u = 5;
	int64_t i = 5;
	bool b = false;
	size_t len;
	FILE *f;
	struct dump_reader *r = open_reader(&f, data, sizeof(data) - 1);

	(void)state;
	assert_int_equal(dump_next(r, &o), DUMP_LINE);
	assert_true(dump_get_int(o, "i", &i) && i == -1);
	assert_true(dump_get_uint(o, "u", &u) && u == UINT64_MAX - 1);
	assert_true(dump_get_bool(o, "b", &b) && b);
	assert_string_equal(dump_get_string(o, "s"), "x");
	assert_true(dump_get_hex(o, "h", &u) && u == 255);
	assert_non_null(dump_get_array(o, "a"));
	assert_true(dump_get_bytes(o, "hex", &bytes, &len) && len == 2);
	assert_memory_equal(bytes, "\x00\xff", 3);
	/* asked again, they are the same */
	assert_true(dump_get_bytes(o, "hex", &bytes, &len) && len == 2);
	assert_memory_equal(bytes, "\x00\xff", 3);
	assert_null(dump_get_string(o, "hex"));
	assert_true(dump_get_bytes(o, "empty", &bytes, &len) && len == 0);

	u = 77;
	i = 77;
	assert_false(dump_get_uint(o, "i", &u));
	assert_false(dump_get_uint(o, "s", &u) || dump_get_uint(o, "f", &u) ||
		     dump_get_uint(o, "n", &u) || dump_get_uint(o, "none", &u));
	assert_false(dump_get_int(o, "s", &i) || dump_get_int(o, "b", &i) ||
		     dump_get_int(o, "f", &i));
	assert_false(dump_get_bool(o, "i", &b) || dump_get_bool(o, "n", &b));
	assert_null(dump_get_string(o, "i"));
	assert_null(dump_get_string(o, "n"));
	assert_null(dump_get_array(o, "s"));
	assert_false(dump_get_hex(o, "h0", &u) || dump_get_hex(o, "h1", &u) ||
		     dump_get_hex(o, "h2", &u) || dump_get_hex(o, "h3", &u) ||
		     dump_get_hex(o, "u", &u));
	assert_false(dump_get_bytes(o, "odd", &bytes, &len) ||
		     dump_get_bytes(o, "bad", &bytes, &len) ||
		     dump_get_bytes(o, "u", &bytes, &len));
	/* out is not touched when there is nothing to put there */
	assert_true(u == 77 && i == 77);
	dump_reader_free(r);
	fclose(f);
}

/* What is no sign of a number must not become one. */
static void test_hex_signs(void **state)
{
	static const char data[] = "{\"a\":\"0x-1\",\"b\":\"0x 1\",\"c\":\"0x+1\","
				   "\"d\":\"0x0x1\"}\n";
	struct json_value *o;
	uint64_t u;
	FILE *f;
	struct dump_reader *r = open_reader(&f, data, sizeof(data) - 1);

	(void)state;
	assert_int_equal(dump_next(r, &o), DUMP_LINE);
	assert_false(dump_get_hex(o, "a", &u));
	assert_false(dump_get_hex(o, "b", &u));
	assert_false(dump_get_hex(o, "c", &u));
	assert_false(dump_get_hex(o, "d", &u));
	dump_reader_free(r);
	fclose(f);
}

/* Numbers at the limits, and beyond them. */
static void test_limits(void **state)
{
	static const char data[] = "{\"u\":18446744073709551615,\"a\":18446744073709551616,"
		"\"i\":9223372036854775807,\"b\":9223372036854775808,"
		"\"n\":-9223372036854775808,\"c\":-9223372036854775809,"
		"\"z\":-0,\"long\":100000000000000000000000000000000000000000}\n";
	struct json_value *o;
	uint64_t u = 5;
	int64_t i = 5;
	FILE *f;
	struct dump_reader *r = open_reader(&f, data, sizeof(data) - 1);

	(void)state;
	assert_int_equal(dump_next(r, &o), DUMP_LINE);
	assert_false(dump_get_uint(o, "a", &u) || dump_get_uint(o, "n", &u) ||
		     dump_get_uint(o, "long", &u));
	assert_false(dump_get_int(o, "b", &i) || dump_get_int(o, "c", &i) ||
		     dump_get_int(o, "u", &i) || dump_get_int(o, "long", &i));
	assert_true(u == 5 && i == 5);
	assert_true(dump_get_uint(o, "u", &u) && u == UINT64_MAX);
	assert_true(dump_get_uint(o, "b", &u) && u == 1ULL << 63);
	assert_true(dump_get_uint(o, "z", &u) && u == 0);
	assert_true(dump_get_int(o, "i", &i) && i == INT64_MAX);
	assert_true(dump_get_int(o, "n", &i) && i == INT64_MIN);
	assert_true(dump_get_int(o, "z", &i) && i == 0);
	dump_reader_free(r);
	fclose(f);
}

/* Memory of which nothing could be read. */
static void test_empty_memory(void **state)
{
	struct call c = { 0 };
	struct json_text j;
	struct buf got;

	(void)state;
	call_add_capture(&c, AT_SYSCALL_ENTER, 0x10, 8, NULL, 0);
	json_text_begin(&j);
	dump_call_add_memory(&j, &c, true, true);
	got = json_text_end(&j);
	assert_string_equal(buf_str(&got),
			    "{\"memory\":[{\"at\":\"enter\",\"addr\":\"0x10\",\"want\":8,\"hex\":\"\"}]}");
	buf_free(&got);
	call_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_no_end),
		cmocka_unit_test(test_exec_takes_over),
		cmocka_unit_test(test_no_descriptor),
		cmocka_unit_test(test_mutations),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_hex_signs),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_empty_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
