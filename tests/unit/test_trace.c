// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the engine reports of tasks, calls and execs. */
#include "trace_run.h"

#include <errno.h>
#include <sys/mman.h>

#include "machine.h"
#include "engine/ptrace/proc.h"

static void fork_body(bool no_seccomp)
{
	struct run r = make_run(no_seccomp);
	const struct event *child;

	launch(&r, "tree", "fork", NULL);
	assert_exit(&r, 0);
	assert_sane(&r);
	assert_int_equal(r.events[0].what, BORN);
	assert_int_equal(r.events[0].other, 0);
	child = find(&r, BORN, ANY, 1);
	assert_int_equal(child->other, r.events[0].tid);
	assert_int_equal(child->pid, child->tid);
	assert_false(child->flag);
	assert_false(child->memory);
	for (long mark = 1; mark <= 3; mark++) {
		assert_int_equal(count(&r, ENTER, mark), 1);
		assert_int_equal(count(&r, EXIT, mark), 1);
		assert_true(find(&r, EXIT, mark, 0)->flag);
	}
	assert_int_equal(find(&r, EXIT, 1, 0)->ret, EFAULT);
	assert_int_equal(find(&r, ENTER, 2, 0)->tid, child->tid);
	assert_int_equal(count(&r, GONE, 7 << 8), 1);
	assert_int_equal(count(&r, GONE, 0), 1);
	done(&r);
}

static void test_fork(void **state)
{
	(void)state;
	need_events();
	both_ways(fork_body);
}

static void vfork_body(bool no_seccomp)
{
	struct run r = make_run(no_seccomp);
	const struct event *child;

	launch(&r, "tree", "vfork", NULL);
	assert_exit(&r, 0);
	assert_sane(&r);
	child = find(&r, BORN, ANY, 1);
	assert_true(child->memory);
	assert_false(child->flag);
	assert_int_equal(find(&r, EXECED, ANY, 0)->tid, child->tid);
	assert_int_equal(find(&r, EXECED, ANY, 0)->other, child->tid);
	assert_int_equal(find(&r, ENTER, 2, 0)->tid, child->tid);
	done(&r);
}

static void test_vfork(void **state)
{
	(void)state;
	both_ways(vfork_body);
}

static void test_shared_files(void **state)
{
	struct run r = make_run(false);

	(void)state;
	need_events();
	launch(&r, "tree", "files", NULL);
	assert_exit(&r, 0);
	assert_sane(&r);
	assert_true(find(&r, BORN, ANY, 1)->flag);
	assert_false(find(&r, BORN, ANY, 1)->memory);
	done(&r);
}

static void threads_body(bool no_seccomp)
{
	struct run r = make_run(no_seccomp);

	launch(&r, "tree", "threads", "300");
	assert_exit(&r, 0);
	assert_sane(&r);
	assert_int_equal(count(&r, BORN, ANY), 301);
	for (long i = 0; i < 300; i++) {
		assert_int_equal(count(&r, ENTER, 100 + i), 1);
		assert_int_equal(count(&r, EXIT, 100 + i), 1);
	}
	assert_int_equal(find(&r, BORN, ANY, 7)->pid, r.events[0].pid);
	assert_true(find(&r, BORN, ANY, 7)->flag);
	assert_true(find(&r, BORN, ANY, 7)->memory);
	done(&r);
}

static void test_threads(void **state)
{
	(void)state;
	both_ways(threads_body);
}

static void many_body(bool no_seccomp)
{
	struct run r = make_run(no_seccomp);

	launch(&r, "tree", "many", "200");
	assert_exit(&r, 0);
	assert_sane(&r);
	assert_int_equal(count(&r, BORN, ANY), 201);
	assert_int_equal(count(&r, GONE, 42 << 8), 2);
	done(&r);
}

static void test_many(void **state)
{
	(void)state;
	both_ways(many_body);
}

/* Calls that the filter does not name come only under close watch. */
static void close_watch_body(bool no_seccomp)
{
	struct run r = make_run(no_seccomp);
	size_t opens;

	r.close = true;
	launch(&r, "tree", "again", "20");
	assert_exit(&r, 0);
	assert_sane(&r);
	opens = 0;
	for (size_t i = 0; i < r.n; i++)
		opens += r.events[i].what == ENTER &&
			 r.events[i].id == CALL_PERF_EVENT_OPEN;
	assert_int_equal(opens, 20); /* once each, though they stop twice */
	assert_true(count(&r, ENTER, ANY) > 20);
	done(&r);

	r = make_run(no_seccomp);
	launch(&r, "tree", "again", "20");
	assert_exit(&r, 0);
	assert_int_equal(count(&r, ENTER, ANY), 20);
	done(&r);
}

static void test_close_watch(void **state)
{
	(void)state;
	both_ways(close_watch_body);
}

static void skip_body(bool no_seccomp)
{
	struct run r = make_run(no_seccomp);

	r.skip = true;
	launch(&r, "tree", "again", "20");
	assert_exit(&r, 0);
	assert_int_equal(count(&r, ENTER, ANY), 20);
	assert_int_equal(count(&r, EXIT, ANY), 0);
	done(&r);

	r = make_run(no_seccomp);
	r.skip = r.close = true;
	launch(&r, "tree", "again", "20");
	assert_exit(&r, 0);
	assert_int_equal(count(&r, EXIT, ANY), 0);
	done(&r);
}

static void test_skip(void **state)
{
	(void)state;
	both_ways(skip_body);
}

static void test_unwanted(void **state)
{
	struct run r = make_run(false);

	(void)state;
	r.close = true;
	r.opts.unwanted[CALL_PERF_EVENT_OPEN] = true;
	launch(&r, "tree", "again", "20");
	assert_exit(&r, 0);
	for (size_t i = 0; i < r.n; i++)
		if (r.events[i].what == ENTER)
			assert_int_not_equal(r.events[i].id,
					     CALL_PERF_EVENT_OPEN);
	done(&r);
}

/* Only the shared mapping of a file stops. */
static void mmap_body(const char *name, bool no_seccomp)
{
	struct run r = make_run(no_seccomp);
	size_t between = 0;
	bool inside = false;

	launch(&r, name, "mmap", NULL);
	assert_exit(&r, 0);
	assert_sane(&r);
	for (size_t i = 0; i < r.n; i++) {
		const struct event *e = &r.events[i];

		if (e->what == EXIT && e->id == CALL_PERF_EVENT_OPEN)
			inside = e->number != 3;
		if (e->what == ENTER && inside && e->id == CALL_MMAP)
			between++;
	}
	assert_int_equal(between, 1);
	done(&r);
}

static void test_mmap(void **state)
{
	(void)state;
	mmap_body("tree", false);
	mmap_body("tree", true);
}

/* i386, where mmap may pass a pointer to its arguments. */
static void test_32bit(void **state)
{
	struct run r = make_run(false);

	(void)state;
	need_events();
	need_program(target("tree32"));
	mmap_body("tree32", false);
	mmap_body("tree32", true);
	launch(&r, "tree32", "fork", NULL);
	assert_exit(&r, 0);
	assert_sane(&r);
	assert_string_equal(find(&r, ENTER, 2, 0)->arch, "x86");
	assert_int_equal(find(&r, EXIT, 2, 0)->ret, EFAULT);
	done(&r);
}

static void exec_thread_body(bool no_seccomp)
{
	static const char *const who[] = { "thread", "orphan" };

	for (size_t i = 0; i < 2; i++) {
		struct run r = make_run(no_seccomp);
		const struct event *e;

		launch(&r, "execs", who[i], NULL);
		assert_exit(&r, 5);
		assert_sane(&r);
		e = find(&r, EXECED, ANY, 0);
		assert_int_equal(e->tid, r.events[0].tid);
		assert_int_equal(e->other, find(&r, ENTER, 1, 0)->tid);
		assert_int_not_equal(e->other, e->tid);
		assert_int_equal(find(&r, ENTER, 2, 0)->tid, e->tid);
		assert_int_equal(count(&r, GONE, ANY), 5);
		done(&r);
	}
}

static void test_exec_by_thread(void **state)
{
	(void)state;
	both_ways(exec_thread_body);
}

/* The execve that is watched goes on under the new number. */
static void test_exec_call_survives(void **state)
{
	struct run r = make_run(false);
	const struct event *before, *after = NULL;

	(void)state;
	r.opts.watch[CALL_EXECVE] = WATCH_ALWAYS;
	launch(&r, "execs", "thread", NULL);
	assert_exit(&r, 5);
	for (size_t i = 0; i < r.n; i++)
		if (r.events[i].what == EXIT && r.events[i].id == CALL_EXECVE)
			after = &r.events[i];
	before = find(&r, EXECED, ANY, 0);
	assert_non_null(after);
	assert_true(before < after);
	assert_int_equal(after->tid, before->tid);
	assert_int_equal(after->ret, 0);
	done(&r);
}

static void exec_leader_body(bool no_seccomp)
{
	struct run r = make_run(no_seccomp);

	launch(&r, "execs", "leader", NULL);
	assert_exit(&r, 5);
	assert_sane(&r);
	assert_int_equal(find(&r, EXECED, ANY, 0)->other, r.events[0].tid);
	assert_int_equal(count(&r, GONE, ANY), 4);
	done(&r);
}

static void test_exec_by_leader(void **state)
{
	(void)state;
	both_ways(exec_leader_body);
}

/* When a process comes under close watch, all its threads do. */
static void test_nudge(void **state)
{
	struct run r = make_run(false);
	const struct event *mark;
	size_t polls = 0;

	(void)state;
	r.close_later = true;
	launch(&r, "tree", "poll", NULL);
	assert_exit(&r, 0);
	assert_sane(&r);
	mark = find(&r, ENTER, 1, 0);
	for (size_t i = 0; i < r.n; i++)
		if (r.events[i].what == ENTER && r.events[i].tid != mark->tid) {
			assert_true(&r.events[i] > mark);
			polls += is_poll(&r.events[i]);
		}
	assert_true(polls > 3);
	done(&r);
}

static void test_detach_on_exec(void **state)
{
	struct run r = make_run(false);

	(void)state;
	r.opts.detach_on_exec = true;
	launch(&r, "tree", "vfork", NULL);
	assert_exit(&r, 0);
	assert_sane(&r);
	assert_int_equal(count(&r, EXECED, ANY), 1);
	assert_int_equal(count(&r, ENTER, 2), 0); /* the child's, after exec */
	assert_int_equal(count(&r, GONE, TRACE_DETACHED), 1);
	done(&r);
}

static void test_stack(void **state)
{
	struct run r = make_run(false);

	(void)state;
	r.stacks = true;
	launch(&r, "tree", "again", "3");
	assert_exit(&r, 0);
	if (r.stack_end && strstr(r.stack_end, "built without"))
		skip();
	print_message("# %s(%s)\n", r.stack, r.stack_end ? r.stack_end : "");
	/* musl is built without unwind information: the stack ends in it */
	if (strstr(r.stack, "musl"))
		skip();
	assert_non_null(strstr(r.stack, "mark@"));
	assert_non_null(strstr(r.stack, "main@"));
	done(&r);
}

/* What is mapped arrives, however the request lies. */
static void test_remote_read(void **state)
{
	enum { PAGES = 70 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *copy = malloc(PAGES * page);
	uint64_t at = (uint64_t)(uintptr_t)p;

	(void)state;
	for (size_t i = 0; i < PAGES * page; i++)
		p[i] = (char)(i * 7 + i / page);
	assert_int_equal(remote_read(getpid(), at, copy, PAGES * page),
			 PAGES * page);
	assert_memory_equal(p, copy, PAGES * page);
	munmap(p + 69 * page, page);
	assert_int_equal(remote_read(getpid(), at + 5, copy, PAGES * page),
			 69 * page - 5);
	assert_memory_equal(p + 5, copy, 69 * page - 5);
	assert_int_equal(remote_read(getpid(), at + 69 * page - 3, copy, 8), 3);
	assert_int_equal(remote_read(getpid(), 0, copy, 8), 0);
	assert_int_equal(remote_read(getpid(), UINT64_MAX - 3, copy, 8), 0);
	munmap(p, 69 * page);
	free(copy);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_vfork),
		cmocka_unit_test(test_shared_files),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_close_watch),
		cmocka_unit_test(test_skip),
		cmocka_unit_test(test_unwanted),
		cmocka_unit_test(test_mmap),
		cmocka_unit_test(test_32bit),
		cmocka_unit_test(test_exec_by_thread),
		cmocka_unit_test(test_exec_call_survives),
		cmocka_unit_test(test_exec_by_leader),
		cmocka_unit_test(test_nudge),
		cmocka_unit_test(test_detach_on_exec),
		cmocka_unit_test(test_stack),
		cmocka_unit_test(test_remote_read),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return run_traced(tests);
}
