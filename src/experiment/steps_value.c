// SPDX-License-Identifier: LGPL-2.1-or-later
/* Expressions in the steps of experiments, and the results that steps expect. */
#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <sys/stat.h>

#include "core/abi/arch.h"
#include "core/abi/strings.h"
#include "core/abi/tables.h"
#include "core/host/cgroup.h"
#include "core/host/facts.h"
#include "core/host/host.h"
#include "core/host/rights.h"
#include "core/host/sysfile.h"
#include "core/lib/clock.h"
#include "core/lib/nearest.h"
#include "engine/rings/bpf.h"
#include "experiment/steps_internal.h"
#include "experiment/trial.h"

/* Events ------------------------------------------------------------------------------ */

/*
 * Return the index of "value", "id1", "lost", ... among the words that read(2) returned
 * for the event's read_format, or -1.
 */
static int read_index(const struct step_event *e, const char *what)
{
	static const struct {
		const char *name;
		uint64_t bit;
	} each[] = { { "value", 0 }, { "id", PERF_FORMAT_ID }, { "lost", PERF_FORMAT_LOST } };
	uint64_t format = layout_get(&layout_perf_event_attr, ATTR_READ_FORMAT, e->attr,
				     sizeof(e->attr));
	int times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED), at, width = 0, place = -1;
	bool group = format & PERF_FORMAT_GROUP;

	/* one event: value, times, id, lost; a group: nr, times, then value, id, lost of each */
	if (!strcmp(what, "enabled"))
		return times ? 1 : -1;
	times += !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	if (!strcmp(what, "running"))
		return format & PERF_FORMAT_TOTAL_TIME_RUNNING ? times : -1;
	if (!strcmp(what, "nr"))
		return group ? 0 : -1;
	for (size_t i = 0; i < sizeof(each) / sizeof(*each); i++) {
		size_t n = strlen(each[i].name);

		if (each[i].bit && !(format & each[i].bit))
			continue;
		if (!strncmp(what, each[i].name, n) &&
		    (!what[n] || isdigit((unsigned char)what[n])))
			place = width;
		width++;
	}
	if (place < 0)
		return -1;
	if (!group)
		return place ? place + times : 0;
	at = atoi(what + strcspn(what, "0123456789"));
	return 1 + times + at * width + place;
}

static bool layout_value(const struct layout *l, const char *name, const uint8_t *bytes,
			 size_t len, uint64_t *v)
{
	const struct field *f = layout_field(l, name);

	if (!f || !bytes)
		return false;
	*v = field_get(f, bytes, len);
	return true;
}

static bool event_value(const struct step_event *e, const char *what, uint64_t *v)
{
	const struct record_value *f;
	int place;

	if (!strcmp(what, "fd"))
		*v = (uint64_t)(int64_t)e->fd;
	else if (!strcmp(what, "found"))
		*v = e->found;
	else if (!strcmp(what, "ring"))
		*v = (uintptr_t)e->ring;
	else if (!strncmp(what, "rec.", 4)) {
		f = record_values_find(&e->record, what + 4);
		if (!f)
			return false;
		*v = f->number;
	} else if (!strncmp(what, "page.", 5))
		return layout_value(&layout_perf_event_mmap_page, what + 5, e->ring,
				    layout_perf_event_mmap_page.size, v);
	else if (!strncmp(what, "attr.", 5))
		return layout_value(&layout_perf_event_attr, what + 5, e->attr, sizeof(e->attr), v);
	else {
		place = read_index(e, what);
		if (place < 0 || place >= (int)(sizeof(e->words) / 8))
			return false;
		*v = e->words[place];
	}
	return true;
}

/* Names ------------------------------------------------------------------------------ */

struct named_value {
	const char *name;
	uint64_t value;
};

static bool find_named(const struct named_value *all, const char *name, uint64_t *v)
{
	for (; all->name; all++)
		if (!strcmp(all->name, name)) {
			*v = all->value;
			return true;
		}
	return false;
}

/* Return a CPU below work_cpu() in our affinity mask, or -1. */
static uint64_t other_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	sched_getaffinity(0, sizeof(set), &set);
	for (int i = 0; i < work_cpu(); i++)
		if (CPU_ISSET(i, &set))
			return (uint64_t)i;
	return UINT64_MAX;
}

/* Set *v to a value of the steps, this machine or process.  Return false for an unknown name. */
static bool builtin_value(struct steps *run, const char *name, uint64_t *v)
{
	struct cpus online = { 0 };
	char path[256];

	if (find_named((const struct named_value[]){
		{ "ret", (uint64_t)run->ret }, { "size", run->size }, { "out", run->out },
		{ NULL, 0 },
	}, name, v) || find_named((const struct named_value[]){
		{ "pid", (uint64_t)getpid() }, { "tid", (uint64_t)gettid() },
		{ "ppid", (uint64_t)getppid() }, { "uid", getuid() },
		{ "page", (uint64_t)sysconf(_SC_PAGESIZE) }, { "longsize", sizeof(long) },
		{ "watched", work_watched() }, { "called", work_called() },
		{ "writer", (uintptr_t)work_write },
		{ "calledat", work_called_offset() }, { "mycpu", (uint64_t)work_cpu() },
		{ "x86", arch_native()->regs == &xlat_perf_regs_x86 }, { NULL, 0 },
	}, name, v))
		return true;
	if (!strcmp(name, "task"))
		*v = (uint64_t)steps_task_pid(run);
	else if (!strcmp(name, "othercpu"))
		*v = other_cpu();
	else if (!strcmp(name, "attrsize"))
		*v = trial_attr_size();
	else if (!strcmp(name, "ncpus")) {
		cpus_online(&online);
		*v = online.n;
		cpus_free(&online);
	} else if (!strcmp(name, "cgroup")) /* the root's descriptor, or -1 if none is mounted */
		*v = (uint64_t)(cgroup_mount(path, sizeof(path)) ?
				open(path, O_RDONLY | O_CLOEXEC) : -1);
	else if (!strcmp(name, "bpfjit"))
		*v = (uint64_t)rights_sysctl("../net/core/bpf_jit_enable", 0);
	else if (!strcmp(name, "perfmon"))
		*v = rights_perfmon();
	else if (!strcmp(name, "lockdown"))
		*v = facts_lockdown() == FACT_YES;
	else if (!strcmp(name, "admin"))
		*v = rights_effective() >> ABI_CAP_SYS_ADMIN & 1 &&
		     rights_user_ns_is_first() == FACT_YES;
	else
		return false;
	return true;
}

static bool prefixed_value(struct steps *run, const char *name, const char *rest, uint64_t *v)
{
	const volatile struct step_signals *s = steps_signals();
	const struct step_event *e;
	char path[64];
	struct stat st;
	long value;

	if (!strcmp(name, "sys")) {
		value = rights_sysctl(rest, LONG_MIN);
		if (value == LONG_MIN)
			return steps_untried(run, "the sysctl %s cannot be read", rest), false;
		*v = (uint64_t)value;
	} else if (!strcmp(name, "pmu"))
		*v = (uint64_t)host_pmu_type(run->host, rest);
	else if (!strcmp(name, "owner")) { /* the user of a process, or -1 */
		snprintf(path, sizeof(path), "/proc/%.20s", rest);
		*v = stat(path, &st) ? UINT64_MAX : st.st_uid;
	} else if (!strcmp(name, "now"))
		*v = clock_ns_of(atoi(rest));
	else if (!strcmp(name, "query"))
		*v = run->query[atoi(rest) & 15];
	else if (!strcmp(name, "bpf")) {
		steps_note(run, "load a BPF program");
		*v = (uint64_t)(int64_t)bpf_load((uint32_t)atoi(rest), 1);
	} else if (!strcmp(name, "sig"))
		return s && find_named((const struct named_value[]){
			{ "count", s->count }, { "first", s->first_code }, { "code", s->code },
			{ "signo", s->signo }, { "fd", s->fd }, { "addr", s->addr },
			{ "data", s->data }, { "type", s->type }, { NULL, 0 },
		}, rest, v);
	else
		return (e = steps_event(run, name)) && event_value(e, rest, v);
	return true;
}

static bool variable_value(struct steps *run, char *name, uint64_t *v)
{
	char *dot = strchr(name, '.');

	for (size_t i = 0; i < run->nvars; i++)
		if (!strcmp(run->vars[i].name, name)) {
			*v = run->vars[i].value;
			return true;
		}
	if (dot) {
		*dot = '\0';
		return prefixed_value(run, name, dot + 1, v);
	}
	if (builtin_value(run, name, v))
		return true;
	for (const struct xlat *const *x = xlat_tables; *x; x++)
		for (size_t i = 0; i < (*x)->n; i++)
			if (!strcmp((*x)->entries[i].name, name)) {
				*v = (*x)->entries[i].value;
				return true;
			}
	return false;
}

/* Expressions ------------------------------------------------------------------------ */

static bool term_value(struct steps *run, const char **at, uint64_t *v)
{
	char name[80];
	size_t n = 0;
	char *end;

	if (**at == '-' || **at == '~') {
		char sign = *(*at)++;

		if (!term_value(run, at, v))
			return false;
		*v = sign == '-' ? -*v : ~*v;
		return true;
	}
	if (isdigit((unsigned char)**at)) {
		*v = strtoull(*at, &end, 0);
		*at = end;
		return true;
	}
	while (n + 1 < sizeof(name) &&
	       (isalnum((unsigned char)(*at)[n]) || (*at)[n] == '_' || (*at)[n] == '.'))
		n++;
	memcpy(name, *at, n);
	name[n] = '\0';
	*at += n;
	return n && variable_value(run, name, v);
}

static bool apply_operator(uint64_t *a, char op, uint64_t b)
{
	switch (op) {
	case '+': *a += b; break;
	case '-': *a -= b; break;
	case '*': *a *= b; break;
	case '/': *a = b ? *a / b : 0; break;
	case '%': *a = b ? *a % b : 0; break;
	case '&': *a &= b; break;
	case '|': *a |= b; break;
	case '<': *a = b < 64 ? *a << b : 0; break;
	case '>': *a = b < 64 ? *a >> b : 0; break;
	default: return false;
	}
	return true;
}

/* Store why there is no value, unless a reason is stored already; return false. */
static bool no_value(struct steps *run, const char *text)
{
	if (!*run->outcome->reason)
		steps_untried(run, "malformed step: no value: %s", text);
	return false;
}

/* All operators have the same precedence and associate to the left. */
bool steps_value(struct steps *run, const char *text, uint64_t *v)
{
	const char *at = text;
	uint64_t b;
	char op;

	if (!term_value(run, &at, v))
		return no_value(run, text);
	while (*at) {
		op = *at++;
		if ((op == '<' || op == '>') && *at == op)
			at++;
		if (!term_value(run, &at, &b) || !apply_operator(v, op, b))
			return no_value(run, text);
	}
	return true;
}

bool steps_compare(uint64_t a, const char *op, uint64_t b, bool *holds)
{
	if (!strcmp(op, "=="))
		*holds = a == b;
	else if (!strcmp(op, "!="))
		*holds = a != b;
	else if (!strcmp(op, ">="))
		*holds = (int64_t)a >= (int64_t)b;
	else if (!strcmp(op, "<="))
		*holds = (int64_t)a <= (int64_t)b;
	else if (!strcmp(op, ">"))
		*holds = (int64_t)a > (int64_t)b;
	else if (!strcmp(op, "<"))
		*holds = (int64_t)a < (int64_t)b;
	else if (!strcmp(op, "&"))
		*holds = a & b;
	else if (!strcmp(op, "!&"))
		*holds = !(a & b);
	else
		return false;
	return true;
}

/* Results ----------------------------------------------------------------------------- */

/* Set *good for "any", "ok", "error", a number, or errno names separated by '|'. */
static bool is_wanted(struct steps *run, int64_t result, bool *good)
{
	const char *at = run->wanted;
	struct nearest unused;
	char name[32];
	uint64_t v;

	*good = !strcmp(at, "any") || (!strcmp(at, "ok") && result >= 0) ||
		(!strcmp(at, "error") && result < 0);
	if (*good || !strcmp(at, "ok") || !strcmp(at, "error"))
		return true;
	while (*at == 'E') {
		size_t n = strcspn(at, "|");
		int error;

		snprintf(name, sizeof(name), "%.*s", (int)n, at);
		error = error_by_name(name, &unused);
		if (!error)
			break;
		*good |= result == -error;
		at += n;
		if (!*at++)
			return true;
	}
	if (!steps_value(run, run->wanted, &v))
		return false;
	*good = result == (int64_t)v;
	return true;
}

enum step_result steps_check_result(struct steps *run, int64_t result)
{
	char seen[64];
	bool good;

	run->ret = result;
	if (result < 0 && result > -4096)
		snprintf(seen, sizeof(seen), "%s", error_name((int)-result) ?: "an error");
	else
		snprintf(seen, sizeof(seen), "%lld", (long long)result);
	if (!run->wanted)
		return result >= 0 ? STEP_OK : steps_untried(run, "%s: %s", run->step, seen);
	if (!is_wanted(run, result, &good))
		return STEP_UNTRIED;
	return good ? STEP_OK : steps_false(run, run->step, "%s", seen);
}
