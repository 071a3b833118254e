// SPDX-License-Identifier: LGPL-2.1-or-later
/* A command that waits to be let go, and what may happen to it meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/wait.h>

#include "experiment/workload.h"

static struct workload held(const char *name)
{
	struct workload w;
	char *argv[] = { (char *)name, NULL };
	sigset_t mask;

	sigemptyset(&mask);
	assert_true(workload_fork(&w, &(struct program){ 0 }, argv, &mask));
	return w;
}

static void runs(void **state)
{
	struct workload w = held("true");

	(void)state;
	workload_reap(&w);
	assert_false(w.ended);
	assert_true(workload_go(&w));
	assert_int_equal(waitpid(w.pid, &w.status, 0), w.pid);
	assert_int_equal(w.status, 0);
}

static void is_not_there(void **state)
{
	struct workload w = held("/nonexistent/program");

	(void)state;
	assert_false(workload_go(&w));
	workload_end(&w);
	assert_true(w.ended);
}

/* To let it go must not end us with a SIGPIPE. */
static void is_killed_before(void **state)
{
	struct workload w = held("true");
	siginfo_t end;

	(void)state;
	assert_int_equal(kill(w.pid, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)w.pid, &end, WEXITED | WNOWAIT), 0);
	assert_true(workload_go(&w));
	workload_end(&w);
	assert_true(WIFSIGNALED(w.status) && WTERMSIG(w.status) == SIGKILL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs),
		cmocka_unit_test(is_not_there),
		cmocka_unit_test(is_killed_before),
	};

	return cmocka_run_group_tests_name("workload", tests, NULL, NULL);
}
