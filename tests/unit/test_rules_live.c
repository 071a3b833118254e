// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The rules against the kernel: random attrs, nearly valid ones, are judged and
 * then opened.  The seed is fixed, or PEVTRACE_SEED; PEVTRACE_ROUNDS makes more, or fewer.
 *
 * "--without ROUNDS PATH..." is for tests/missing_facts.py: without each of the files and directories, as
 * root and as an ordinary user, no verdict that is called certain may be wrong.
 * "--nobody", for tests/kernels: as an ordinary user only.
 */
#include "rules_draw.h"

/* Have the library, and the facts here, know what one open tells. */
static void read_library(struct run *r)
{
	enum fact denies = trial_denies_all(&r->facts.rules.machine);

	r->facts.rules.machine.denies_all = denies;
	if (!r->library)
		r->library = pevtrace_machine_new();
	if (!r->library || pevtrace_machine_read(r->library))
		_exit(2);
	if (denies != FACT_UNKNOWN)
		pevtrace_machine_set(r->library, PEVTRACE_FACT_DENIES_ALL, denies == FACT_YES);
}

/* Judging and opening -------------------------------------------------------------------- */

static void tell_group(struct run *r, const struct call_args *c)
{
	struct rule_group *g = &r->facts.rules.target.group;
	const struct leader *l = c->leader;
	bool tasks;

	/* somebody else may have taken all of a CPU: that is ENOSPC, and no more */
	r->facts.rules.target.breakpoint = FACT_UNKNOWN;
	if (!l)
		return;
	tasks = !(c->flags & PERF_FLAG_PID_CGROUP) && c->pid != -1;
	g->alive = l->dead ? FACT_NO : FACT_YES;
	g->leads = l->leads ? FACT_YES : FACT_NO;
	g->same_task = (tasks ? c->pid : -1) == l->pid ? FACT_YES : FACT_NO;
	g->same_cgroup = c->flags & PERF_FLAG_PID_CGROUP ? FACT_NO : FACT_YES;
	g->ring = l->ring ? FACT_YES : FACT_NO;
	g->attr = l->attr;
	g->len = sizeof(l->attr);
	g->cpu = l->cpu;
	g->siblings = l->siblings;
	g->formats = 1;
}

/* Have the library judge the call, with what it may know of the group. */
static void judge_by_library(struct run *r, const struct call_args *c, const struct rule_ask *ask)
{
	const struct pevtrace_open call = {
		.size = sizeof(call), .attr = ask->attr, .attr_len = ask->len, .pid = ask->pid,
		.cpu = ask->cpu, .group_fd = ask->group_fd, .flags = ask->flags,
		.leader = c->leader ? c->leader->attr : NULL,
		.leader_len = c->leader ? sizeof(c->leader->attr) : 0,
		.leader_known = c->leader != NULL, .leader_pid = c->leader ? c->leader->pid : 0,
		.leader_cpu = c->leader ? c->leader->cpu : 0,
		.leader_group_fd = c->leader ? c->leader->group_fd : 0,
	};

	r->verdict.size = sizeof(r->verdict);
	assert_int_equal(pevtrace_judge(r->library, &call, &r->verdict), 0);
}

/* Write the machine to its file, and read it again. */
static void file_machine(struct run *r)
{
	struct json_text o = { .last = NULL };
	FILE *f = tmpfile();
	struct buf line;

	assert_non_null(f);
	json_text_begin(&o);
	json_add_string(&o, "kind", "machine");
	machine_file_add(&o, &r->facts, true);
	line = json_text_end(&o);
	assert_int_equal(fwrite(line.data, 1, line.len, f), line.len);
	buf_free(&line);
	rewind(f);
	assert_true(machine_file_read(f, "the file", &r->filed));
	fclose(f);
}

/* Judge the call for the machine of the file, of which target and group are no part. */
static void judge_filed(struct run *r, const struct rule_ask *live)
{
	struct judge_case c = { .ask = *live, .seen = JUDGE_NOT_SEEN };
	struct judgement here, there;

	judge_open(&c, &here);
	r->filed.rules.target = r->facts.rules.target;
	c.ask.facts = &r->filed.rules;
	judge_open(&c, &there);
	r->filed_certain += here.certain && there.certain;
	if (here.rule == there.rule && here.error == there.error && here.certain == there.certain)
		return;
	if (r->filed_otherwise++ < SHOWN)
		printf("# rule %s, but %s for the machine's file\n", here.rule ? here.rule->name : "none",
		       there.rule ? there.rule->name : "none");
}

/* Comments of TAP: what was asked, what was said. */
static void show_wrong(const struct run *r, const uint8_t *attr, const struct rule_ask *ask,
		       const struct rule_verdict *v, int error)
{
	const struct layout *l = &layout_perf_event_attr;
	const struct rule_desc *open = rules_explain(v, error);

	printf("# rule %s (%s) but the kernel says %s%s%s: pid=%d%s cpu=%d group_fd=%d "
	       "flags=%llu", v->rule ? v->rule->name : "none",
	       v->error ? strerrorname_np(v->error) : "opens",
	       error ? strerrorname_np(error) : "opens", open ? "; not known: " : "",
	       open ? open->name : "", ask->pid, ask->pid == r->child ? " (child)" : "",
	       ask->cpu, ask->group_fd, (unsigned long long)ask->flags);
	for (size_t i = 0; i < l->n; i++)
		if (get(attr, (unsigned int)i) &&
		    (!i || l->fields[i].offset != l->fields[i - 1].offset ||
		     l->fields[i].nbits))
			printf(" %s=0x%llx", l->fields[i].name,
			       (unsigned long long)get(attr, (unsigned int)i));
	printf("\n");
}

/* Of probes there are fewer: opening and closing one takes the kernel 30 ms. */
static struct rule_ask draw(struct run *r, const struct call_args *c, uint8_t *attr)
{
	struct rule_ask ask = {
		.attr = attr, .pid = c->pid, .cpu = c->cpu, .group_fd = c->group_fd,
		.flags = c->flags, .facts = &r->facts.rules,
	};

	memset(attr, 0, ATTR_ROOM);
	do
		memcpy(attr, r->bases[any() % r->nbases], sizeof(r->bases[0]));
	while ((get(attr, ATTR_UPROBE_PATH) == (uintptr_t)r->path ||
		get(attr, ATTR_KPROBE_FUNC) == (uintptr_t)kernel_function) && !chance(6));
	/* or nothing but that would be said to an ordinary user */
	if (!r->facts.rules.machine.caps && !chance(8)) {
		put(attr, ATTR_EXCLUDE_KERNEL, 1);
		put(attr, ATTR_EXCLUDE_HV, any() % 2);
	}
	mutate(r, attr);
	make_safe(r, attr, c);
	ask.len = (size_t)get(attr, ATTR_SIZE);
	ask.len = ask.len < PERF_ATTR_SIZE_VER0 ? PERF_ATTR_SIZE_VER0 :
		  ask.len > ATTR_ROOM ? ATTR_ROOM : ask.len;
	if (chance(200))
		ask.len = any() % ask.len;
	return ask;
}

/* Return 0 if the call opens, or the positive errno. */
static int ask_kernel(const struct rule_ask *ask)
{
	uint8_t attr[ATTR_ROOM];
	int fd;

	memcpy(attr, ask->attr, sizeof(attr));
	fd = open_event(attr, ask->len, ask->pid, ask->cpu, ask->group_fd, ask->flags);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? -fd : 0;
}

static void one_round(struct run *r)
{
	struct rule_target *target = &r->facts.rules.target;
	struct call_args c = arguments(r);
	uint8_t attr[ATTR_ROOM];
	struct rule_ask ask = draw(r, &c, attr);
	struct rule_verdict v;
	int error;

	facts_target(&r->facts, &ask);
	target->pmu_event = trial_pmu_event(&ask, &target->pmu_error);
	tell_group(r, &c);
	rules_judge(&ask, &v);
	if (r->library)
		judge_by_library(r, &c, &ask);
	judge_filed(r, &ask);
	error = ask_kernel(&ask);
	r->rounds++;
	r->opened += !error;
	r->certain += r->verdict.certain;
	r->grouped += c.leader != NULL;
	r->grouped_certain += c.leader && r->verdict.certain;
	if (r->verdict.certain && r->verdict.error != error) {
		r->wrongly_certain++;
		printf("# certain by rule %s: ", r->verdict.rule ? r->verdict.rule : "none");
		show_wrong(r, attr, &ask, &v, error);
	}
	if (error == v.error) {
		if (v.rule)
			r->agreed[v.rule->id]++;
		return;
	}
	r->wrong_by[v.rule ? v.rule->id : RULE_COUNT]++;
	r->disagreed += !rules_explain(&v, error);
	if (r->wrong++ < SHOWN && (!r->library || !rules_explain(&v, error)))
		show_wrong(r, attr, &ask, &v, error);
}

/* Runs ------------------------------------------------------------------------------------- */

static unsigned int open_fds(void)
{
	unsigned int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static unsigned int wanted(unsigned int rounds)
{
	const char *factor = getenv("PEVTRACE_ROUNDS");

	return factor ? (unsigned int)(rounds * strtod(factor, NULL)) : rounds;
}

static void run_rounds(struct run *r, unsigned int rounds)
{
	unsigned int before;

	r->child = child(false);
	r->zombie = child(true);
	add_leaders(r);
	if (r->before_rounds)
		r->before_rounds(r);
	file_machine(r);
	before = open_fds();
	rounds = wanted(rounds);
	for (unsigned int i = 0; i < rounds; i++)
		one_round(r);
	if (open_fds() != before) {
		printf("# descriptors: %u before, %u after\n", before, open_fds());
		r->wrong = r->rounds;
	}
	for (size_t i = 0; i < RULE_COUNT; i++)
		r->kinds += r->agreed[i] > 0;
	printf("# uid %d: %u attrs, %u opened, %u refused by %u rules, %u not as predicted, "
	       "%u of them disagreements\n", getuid(), r->rounds, r->opened,
	       r->rounds - r->opened - r->wrong, r->kinds, r->wrong, r->disagreed);
	printf("# the library was certain of %u, %u of them wrongly; of %u in groups it was of %u\n",
	       r->certain, r->wrongly_certain, r->grouped, r->grouped_certain);
	for (size_t i = 0; i <= RULE_COUNT; i++)
		if (r->wrong_by[i])
			printf("# not as predicted by %s: %u\n", i < RULE_COUNT ?
			       rule_descs[i].name : "all rules, which pass", r->wrong_by[i]);
	printf("# as predicted by:");
	for (size_t i = 0; i < RULE_COUNT; i++)
		if (r->agreed[i])
			printf(" %s %u", rule_descs[i].name, r->agreed[i]);
	printf("\n");
	printf("# by the machine's file: %u verdicts differ, %u are certain for both\n",
	       r->filed_otherwise, r->filed_certain);
	machine_file_free(&r->filed);
	for (size_t i = 0; i < r->nleaders; i++)
		close(r->leaders[i].fd);
	end_child(r->child);
	end_child(r->zombie);
}

static void begin(struct run *r)
{
	int fd;

	seed = SEED;
	if (getenv("PEVTRACE_SEED"))
		seed = strtoull(getenv("PEVTRACE_SEED"), NULL, 0) | 1;
	memset(r, 0, sizeof(*r));
	r->cgroup = -1;
	memset(r->long_path, 'x', sizeof(r->long_path) - 1);
	r->host = host_new("/sys", NULL);
	facts_open(&r->facts, r->host);
	r->facts.rules.machine.attr_size = trial_attr_size();
	tree_template(r->path, "rules");
	fd = mkstemp(r->path);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 4096), 0);
	close(fd);
	add_bases(r);
	/* read tracefs now, while we may */
	host_has_tracepoints(r->host);
	printf("# seed %llu, %zu valid attrs, kernel %s, perf_event_paranoid %d\n",
	       (unsigned long long)seed, r->nbases, r->facts.release,
	       r->facts.rules.machine.paranoid);
}

static void finish(struct run *r)
{
	for (size_t i = 0; i < r->nkeep; i++)
		close(r->keep[i]);
	unlink(r->path);
	facts_close(&r->facts);
	host_free(r->host);
	pevtrace_machine_free(r->library);
}

/*
 * 99 in 100 as predicted, and but for 1 in 1000 what differs is a matter of rules
 * that said they did not know.  (Others may hold the CPU's breakpoints.)  The library is certain of
 * most, and of none that is wrong.
 */
static bool well_predicted(const struct run *r)
{
	return r->wrong * 100 <= r->rounds && r->disagreed * 1000 <= r->rounds &&
	       !r->wrongly_certain && r->certain * 10 >= r->rounds * 7 &&
	       r->grouped_certain * 2 >= r->grouped;
}

static bool refused_everything(void)
{
	return !trial_attr_size();
}

static void test_as_ourselves(void **state)
{
	static struct run r;

	(void)state;
	if (refused_everything()) {
		print_message("# perf_event_open is not there, or a filter hides it\n");
		skip();
	}
	begin(&r);
	r.foreign = 1;
	r.cgroup = find_cgroup(&r);
	read_library(&r);
	run_rounds(&r, ROUNDS);
	if (r.cgroup >= 0)
		close(r.cgroup);
	finish(&r);
	assert_true(r.rounds >= wanted(20000));
	assert_true(well_predicted(&r));
	assert_true(r.opened * 10 > r.rounds);
	assert_true(r.kinds >= 40);
	assert_int_equal(r.filed_otherwise, 0);
	assert_true(r.filed_certain);
}

static bool become_nobody(void)
{
	return !setgroups(0, NULL) && !setresgid(NOBODY, NOBODY, NOBODY) &&
	       !setresuid(NOBODY, NOBODY, NOBODY) && !prctl(PR_SET_DUMPABLE, 1);
}

static void test_as_nobody(void **state)
{
	static struct run r;
	pid_t roots, pid;
	bool denies;
	int status;

	(void)state;
	if (refused_everything()) {
		print_message("# perf_event_open is not there, or a filter hides it\n");
		skip();
	}
	begin(&r);
	if (r.facts.rules.machine.unread & UNREAD_PARANOID) {
		finish(&r);
		print_message("# perf_event_paranoid cannot be read\n");
		skip();
	}
	roots = child(false);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (!become_nobody())
			_exit(SKIPPED);
		r.foreign = roots;
		facts_refresh(&r.facts);
		read_library(&r);
		run_rounds(&r, NOBODY_ROUNDS);
		fflush(stdout);
		denies = r.facts.rules.machine.denies_all == FACT_YES;
		_exit(!well_predicted(&r) || r.filed_otherwise || (!denies && r.kinds < 35));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	end_child(roots);
	finish(&r);
	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
		print_message("# needs root, to become another user\n");
		skip();
	}
	assert_int_equal(status, 0);
}

/* Without a source of facts ---------------------------------------------------------------- */

/* Replace "@child" and the like in a path by the pid. */
static void expand(const char *path, const pid_t *pids, char *out, size_t size)
{
	static const char *const words[] = { "@self", "@child", "@zombie", "@foreign" };

	for (size_t i = 0; i < COUNT(words); i++) {
		const char *at = strstr(path, words[i]);

		if (!at)
			continue;
		snprintf(out, size, "%.*s%d%s", (int)(at - path), path, pids[i],
			 at + strlen(words[i]));
		return;
	}
	snprintf(out, size, "%s", path);
}

/*
 * Mount an empty directory on the directory, or an empty file on the file, which only root may
 * read; return false if that is impossible, as with the links of /proc/PID/ns.
 */
static bool take_away(const char *path)
{
	char empty[TREE_PATH];
	struct stat st;
	bool good;
	int fd;

	if (stat(path, &st))
		return false;
	if (S_ISDIR(st.st_mode))
		return !mount("none", path, "tmpfs", 0, "mode=755");
	tree_template(empty, "empty");
	fd = mkstemp(empty);
	if (fd < 0)
		return false;
	close(fd);
	good = !mount(empty, path, NULL, MS_BIND, NULL);
	unlink(empty);
	return good;
}

/* Wait until the path is hidden, and read all facts anew. */
static void read_anew(struct run *r)
{
	const pid_t pids[] = { getpid(), r->child, r->zombie, r->foreign };
	char go;

	if (write(r->told, pids, sizeof(pids)) != sizeof(pids) || read(r->hidden, &go, 1) != 1)
		_exit(2);
	close(r->told);
	close(r->hidden);
	/* tests/missing_facts.py looks for this in the log of strace */
	access("/facts are read now", F_OK);
	facts_close(&r->facts);
	host_free(r->host);
	r->host = host_new("/sys", NULL);
	facts_open(&r->facts, r->host);
	r->facts.rules.machine.attr_size = trial_attr_size();
	read_library(r);
}

/* Make the rounds while the parent hides the path; exit with 1 if a verdict was wrong. */
static void rounds_without(struct run *r, unsigned int rounds, bool user, const char *path)
{
	if (user && !become_nobody())
		_exit(2);
	r->before_rounds = read_anew;
	run_rounds(r, rounds);
	printf("%s\t%s\t%u\t%u\t%u\t%u\t%d %d %d %d\n", path, user ? "user" : "root", r->rounds,
	       r->certain, r->wrongly_certain, r->disagreed, getpid(), r->child, r->zombie,
	       r->foreign);
	fflush(stdout);
	_exit(r->wrongly_certain || r->disagreed || r->rounds != wanted(rounds));
}

/* Return the exit status: 77 if the path cannot be hidden. */
static int without(struct run *r, unsigned int rounds, bool user, const char *path)
{
	int told[2], hidden[2], status;
	char real[PATH_MAX];
	pid_t pids[4], pid;
	bool good;

	if (pipe(told) || pipe(hidden))
		return 2;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		close(told[0]);
		close(hidden[1]);
		r->told = told[1];
		r->hidden = hidden[0];
		rounds_without(r, rounds, user, path);
	}
	close(told[1]);
	close(hidden[0]);
	good = read(told[0], pids, sizeof(pids)) == sizeof(pids);
	if (good && strcmp(path, "-")) {
		expand(path, pids, real, sizeof(real));
		good = take_away(real);
		if (!good)
			printf("%s\t%s\tcannot be taken away: %s\n", path, user ? "user" : "root",
			       strerror(errno));
	}
	if (good && write(hidden[1], "", 1) != 1)
		good = false;
	close(told[0]);
	close(hidden[1]);
	return waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ? 2 :
	       good ? WEXITSTATUS(status) : 77;
}

/* Hide each path in a mount namespace of its own. */
static int without_each(unsigned int rounds, char **paths)
{
	static struct run r;
	int status, worst = 0;
	pid_t pid, roots;

	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return 2;
	if (access("/sys/kernel/tracing/events", F_OK))
		mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL);
	begin(&r);
	r.cgroup = find_cgroup(&r);
	roots = child(false);
	for (; *paths; paths++) {
		for (int user = 0; user < 2; user++) {
			fflush(stdout);
			pid = fork();
			if (!pid) {
				r.foreign = user ? roots : 1;
				_exit(unshare(CLONE_NEWNS) ? 2 : without(&r, rounds, user, *paths));
			}
			if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
				status = 2 << 8;
			if (WEXITSTATUS(status) != 77 && WEXITSTATUS(status) > worst)
				worst = WEXITSTATUS(status);
		}
	}
	end_child(roots);
	finish(&r);
	return worst;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_ourselves),
		cmocka_unit_test(test_as_nobody),
	};

	if (argc > 3 && !strcmp(argv[1], "--without"))
		return without_each((unsigned int)atoi(argv[2]), argv + 3);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (argc > 1 && !strcmp(argv[1], "--nobody"))
		cmocka_set_test_filter("test_as_nobody");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
