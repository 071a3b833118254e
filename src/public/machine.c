// SPDX-License-Identifier: LGPL-2.1-or-later
#include "public/machine.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/host/pmu.h"
#include "core/lib/die.h"

struct pevtrace_machine {
	struct facts facts;
	struct machine_host *own;	/* NULL: the facts are not those of this machine */
	char **added;			/* names of PMUs; owned */
	size_t nadded;
	struct pevtrace_names names;
};

/* The files of this machine, some of which are read when they are needed. */
struct machine_host {
	struct host *host;
	pthread_mutex_t lock;	/* for tracepoints: all else is read once, at the start */
};

/* The default values of a kernel, for a process without privileges. */
static const struct rule_machine default_machine = {
	.page_size = 4096, .paranoid = 2, .max_sample_rate = 100000, .max_stack = 127,
	.cpus = UINT32_MAX,
};

static void machine_defaults(struct facts *f)
{
	*f = (struct facts){ .rules.machine = default_machine };
	f->rules.machine.arch = arch_native();
}

struct pevtrace_machine *pevtrace_machine_new(void)
{
	struct pevtrace_machine *m = xcalloc(1, sizeof(*m));

	if (m)
		machine_defaults(&m->facts);
	return m;
}

/* Forget all facts, but not the names of events and symbols. */
static void machine_clear(struct pevtrace_machine *m)
{
	facts_close(&m->facts);
	machine_defaults(&m->facts);
	for (size_t i = 0; i < m->nadded; i++)
		free(m->added[i]);
	free(m->added);
	m->added = NULL;
	m->nadded = 0;
	if (!m->own)
		return;
	host_free(m->own->host);
	pthread_mutex_destroy(&m->own->lock);
	free(m->own);
	m->own = NULL;
}

void pevtrace_machine_free(struct pevtrace_machine *m)
{
	if (!m)
		return;
	machine_clear(m);
	free(m);
}

int pevtrace_machine_read(struct pevtrace_machine *m)
{
	struct machine_host *own = xcalloc(1, sizeof(*own));

	machine_clear(m);
	if (own)
		own->host = host_new("/sys", NULL);
	if (!own || !own->host) {
		free(own);
		return -ENOMEM;
	}
	pthread_mutex_init(&own->lock, NULL);
	m->own = own;
	facts_open(&m->facts, own->host);
	return 0;
}

int pevtrace_machine_set_names(struct pevtrace_machine *m, const struct pevtrace_names *names)
{
	if (names->size < sizeof(names->size))
		return -EINVAL;
	memset(&m->names, 0, sizeof(m->names));
	memcpy(&m->names, names, names->size < sizeof(*names) ? names->size : sizeof(*names));
	return 0;
}

const struct pevtrace_names *machine_names(const struct pevtrace_machine *m)
{
	static const struct pevtrace_names none;

	return m ? &m->names : &none;
}

/* Facts ------------------------------------------------------------------------------ */

/* One of the facts, in whichever form struct rule_machine has it. */
struct fact_place {
	uint32_t *u32;
	uint64_t *u64;
	enum fact *known;
	uint64_t least, most;
	enum rule_unread unread; /* its bit, or 0 */
};

static struct fact_place fact_place(struct rule_machine *m, enum pevtrace_fact fact)
{
	switch (fact) {
	case PEVTRACE_FACT_RELEASE:
		return (struct fact_place){ .u32 = &m->release, .most = UINT32_MAX };
	case PEVTRACE_FACT_ATTR_SIZE:
		return (struct fact_place){ .u32 = &m->attr_size, .least = 64, .most = 4096 };
	case PEVTRACE_FACT_PAGE_SIZE:
		return (struct fact_place){ .u32 = &m->page_size, .least = 4096, .most = 1 << 20 };
	case PEVTRACE_FACT_CAPABILITIES:
		return (struct fact_place){ .u64 = &m->caps, .most = UINT64_MAX };
	case PEVTRACE_FACT_MAX_SAMPLE_RATE:
		return (struct fact_place){ .u64 = &m->max_sample_rate, .most = UINT64_MAX,
					    .unread = UNREAD_SAMPLE_RATE };
	case PEVTRACE_FACT_MAX_STACK:
		return (struct fact_place){ .u64 = &m->max_stack, .most = UINT64_MAX,
					    .unread = UNREAD_STACK };
	case PEVTRACE_FACT_CPUS:
		return (struct fact_place){ .u32 = &m->cpus, .least = 1, .most = INT32_MAX,
					    .unread = UNREAD_CPUS };
	case PEVTRACE_FACT_CGROUPS:
		return (struct fact_place){ .known = &m->cgroups, .most = 1 };
	case PEVTRACE_FACT_KPROBES:
		return (struct fact_place){ .known = &m->kprobes, .most = 1 };
	case PEVTRACE_FACT_LOCKDOWN:
		return (struct fact_place){ .known = &m->lockdown, .most = 1 };
	case PEVTRACE_FACT_SECURITY:
		return (struct fact_place){ .known = &m->security, .most = 1 };
	case PEVTRACE_FACT_PMUS_COMPLETE:
		return (struct fact_place){ .known = &m->pmus_known, .most = 1 };
	default:
		return (struct fact_place){ 0 };
	}
}

int pevtrace_machine_set(struct pevtrace_machine *m, enum pevtrace_fact fact, uint64_t value)
{
	struct fact_place p = fact_place(&m->facts.rules.machine, fact);

	if (fact == PEVTRACE_FACT_PARANOID) {
		if ((int64_t)value < INT32_MIN || (int64_t)value > INT32_MAX)
			return -ERANGE;
		m->facts.rules.machine.paranoid = (int32_t)value;
		m->facts.rules.machine.unread &= ~(unsigned int)UNREAD_PARANOID;
		return 0;
	}
	if (!p.most)
		return -EINVAL;
	if (value < p.least || value > p.most)
		return -ERANGE;
	m->facts.rules.machine.unread &= ~(unsigned int)p.unread;
	if (fact == PEVTRACE_FACT_CAPABILITIES)
		m->facts.rules.machine.caps_unread = 0;
	if (p.u32)
		*p.u32 = (uint32_t)value;
	else if (p.u64)
		*p.u64 = value;
	else
		*p.known = fact_of(value);
	return 0;
}

int pevtrace_machine_get(const struct pevtrace_machine *m, enum pevtrace_fact fact,
			 uint64_t *value)
{
	struct rule_machine copy = m->facts.rules.machine;
	struct fact_place p = fact_place(&copy, fact);

	if (fact == PEVTRACE_FACT_PARANOID) {
		*value = (uint64_t)(int64_t)copy.paranoid;
		return copy.unread & UNREAD_PARANOID ? -ENODATA : 0;
	}
	if (!p.most)
		return -EINVAL;
	if ((p.u32 && (*p.u32 < p.least || *p.u32 > p.most)) || (p.known && !*p.known) ||
	    (fact == PEVTRACE_FACT_RELEASE && !copy.release) || copy.unread & p.unread ||
	    (fact == PEVTRACE_FACT_CAPABILITIES && copy.caps_unread))
		return -ENODATA;
	*value = p.u32 ? *p.u32 : p.u64 ? *p.u64 : *p.known == FACT_YES;
	return 0;
}

static const struct rule_pmu *machine_pmu(const struct pevtrace_machine *m, uint32_t type)
{
	const struct rule_machine *r = &m->facts.rules.machine;

	for (size_t i = 0; i < r->npmus; i++)
		if (r->pmus[i].type == type)
			return &r->pmus[i];
	return NULL;
}

int pevtrace_machine_add_pmu(struct pevtrace_machine *m, uint32_t type, const char *name)
{
	char **more, *copy;

	if (machine_pmu(m, type))
		return -EEXIST;
	more = xrealloc(m->added, (m->nadded + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	m->added = more;
	copy = xstrdup(name);
	if (!copy || !facts_add_pmu(&m->facts, type, copy)) {
		free(copy);
		return -ENOMEM;
	}
	more[m->nadded++] = copy;
	return 0;
}

/* Add the facts about the objects of a call. */
static void machine_own_facts(const struct pevtrace_machine *m, const struct rule_ask *ask,
		      struct rule_facts *out)
{
	struct facts f = m->facts;

	pthread_mutex_lock(&m->own->lock);
	facts_target(&f, ask);
	pthread_mutex_unlock(&m->own->lock);
	out->target = f.rules.target;
}

void machine_facts(const struct pevtrace_machine *m, const struct rule_ask *ask,
		   struct rule_facts *out)
{
	*out = (struct rule_facts){ .machine = m ? m->facts.rules.machine : default_machine };
	out->machine.arch = out->machine.arch ? out->machine.arch : arch_native();
	if (m && m->own)
		machine_own_facts(m, ask, out);
}

/* Names ------------------------------------------------------------------------------ */

static const struct machine_lookup *lookup_self(const struct names *n)
{
	return (const struct machine_lookup *)n; /* names is its first member */
}

static const char *lookup_pmu(const struct names *n, uint32_t type)
{
	const struct rule_pmu *p = machine_pmu(lookup_self(n)->machine, type);

	return p ? p->name : NULL;
}

static const char *lookup_tracepoint(const struct names *n, uint64_t id)
{
	const struct pevtrace_machine *m = lookup_self(n)->machine;
	const char *name = m->names.tracepoint ? m->names.tracepoint(m->names.context, id) : NULL;

	if (name || !m->own)
		return name;
	pthread_mutex_lock(&m->own->lock);
	name = host_tracepoint(m->own->host, id);
	pthread_mutex_unlock(&m->own->lock);
	return name;
}

static const char *lookup_terms(const struct names *n, uint32_t type, const uint64_t *config,
				size_t nconfigs)
{
	/* the text must last, and the struct is only const to those who look up */
	struct buf *out = (struct buf *)&lookup_self(n)->terms;
	const struct pevtrace_machine *m = lookup_self(n)->machine;
	const struct pmu *p = m->own ? host_pmus(m->own->host) : NULL;

	while (p && p->type != type)
		p = p->next;
	if (!p || !p->nterms)
		return NULL;
	buf_reset(out);
	pmu_describe(p, config, nconfigs, out);
	return out->failed ? NULL : buf_str(out);
}

static const char *lookup_event(const struct names *n, uint64_t id)
{
	const struct pevtrace_names *names = &lookup_self(n)->machine->names;

	return names->event ? names->event(names->context, id) : NULL;
}

static const char *lookup_symbol(const struct names *n, int32_t pid, uint64_t ip,
				 unsigned int cpumode, bool after_call)
{
	const struct pevtrace_names *names = &lookup_self(n)->machine->names;

	return names->symbol ? names->symbol(names->context, pid, ip, cpumode, after_call) : NULL;
}

void machine_lookup_init(struct machine_lookup *l, const struct pevtrace_machine *m)
{
	*l = (struct machine_lookup){ .machine = m };
	l->names.page_size = m ? m->facts.rules.machine.page_size : default_machine.page_size;
	if (!m)
		return;
	l->names.pmu = lookup_pmu;
	l->names.tracepoint = lookup_tracepoint;
	l->names.terms = lookup_terms;
	l->names.event = lookup_event;
	l->names.symbol = lookup_symbol;
}

void machine_lookup_free(struct machine_lookup *l)
{
	buf_free(&l->terms);
}
