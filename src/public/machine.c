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

/* Facts ------------------------------------------------------------------------------ */

/* Where struct rule_machine has each fact, and its limits; PEVTRACE_FACT_PARANOID has a sign. */
static const struct fact_place {
	size_t at;
	enum { FORM_U32, FORM_U64, FORM_KNOWN } form; /* KNOWN: an enum fact */
	uint64_t least, most;
	enum rule_unread unread; /* its bit, or 0 */
} fact_places[] = {
#define AT(member) offsetof(struct rule_machine, member)
	[PEVTRACE_FACT_RELEASE] = { AT(release), FORM_U32, 0, UINT32_MAX, 0 },
	[PEVTRACE_FACT_ATTR_SIZE] = { AT(attr_size), FORM_U32, 64, 4096, 0 },
	[PEVTRACE_FACT_PAGE_SIZE] = { AT(page_size), FORM_U32, 4096, 1 << 20, 0 },
	[PEVTRACE_FACT_CAPABILITIES] = { AT(caps), FORM_U64, 0, UINT64_MAX, 0 },
	[PEVTRACE_FACT_MAX_SAMPLE_RATE] = {
		AT(max_sample_rate), FORM_U64, 0, UINT64_MAX, UNREAD_SAMPLE_RATE,
	},
	[PEVTRACE_FACT_MAX_STACK] = { AT(max_stack), FORM_U64, 0, UINT64_MAX, UNREAD_STACK },
	[PEVTRACE_FACT_CPUS] = { AT(cpus), FORM_U32, 1, INT32_MAX, UNREAD_CPUS },
	[PEVTRACE_FACT_CGROUPS] = { AT(cgroups), FORM_KNOWN, 0, 1, 0 },
	[PEVTRACE_FACT_KPROBES] = { AT(kprobes), FORM_KNOWN, 0, 1, 0 },
	[PEVTRACE_FACT_LOCKDOWN] = { AT(lockdown), FORM_KNOWN, 0, 1, 0 },
	[PEVTRACE_FACT_SECURITY] = { AT(security), FORM_KNOWN, 0, 1, 0 },
	[PEVTRACE_FACT_PMUS_COMPLETE] = { AT(pmus_known), FORM_KNOWN, 0, 1, 0 },
	[PEVTRACE_FACT_DENIES_ALL] = { AT(denies_all), FORM_KNOWN, 0, 1, 0 },
#undef AT
};

/* Return the place of a fact; its `most` is 0 if there is no such fact. */
static const struct fact_place *fact_place(enum pevtrace_fact fact)
{
	static const struct fact_place none;

	return (size_t)fact < sizeof(fact_places) / sizeof(*fact_places) ? &fact_places[fact] :
									   &none;
}

int pevtrace_machine_set(struct pevtrace_machine *m, enum pevtrace_fact fact, uint64_t value)
{
	const struct fact_place *p = fact_place(fact);
	void *to = (char *)&m->facts.rules.machine + p->at;

	if (fact == PEVTRACE_FACT_PARANOID) {
		if ((int64_t)value < INT32_MIN || (int64_t)value > INT32_MAX)
			return -ERANGE;
		m->facts.rules.machine.paranoid = (int32_t)value;
		m->facts.rules.machine.unread &= ~(unsigned int)UNREAD_PARANOID;
		return 0;
	}
	if (!p->most)
		return -EINVAL;
	if (value < p->least || value > p->most)
		return -ERANGE;
	m->facts.rules.machine.unread &= ~(unsigned int)p->unread;
	if (fact == PEVTRACE_FACT_CAPABILITIES)
		m->facts.rules.machine.caps_unread = 0;
	if (p->form == FORM_U32)
		*(uint32_t *)to = (uint32_t)value;
	else if (p->form == FORM_U64)
		*(uint64_t *)to = value;
	else
		*(enum fact *)to = fact_of(value);
	return 0;
}

int pevtrace_machine_get(const struct pevtrace_machine *m, enum pevtrace_fact fact,
			 uint64_t *value)
{
	const struct rule_machine *r = &m->facts.rules.machine;
	const struct fact_place *p = fact_place(fact);
	const void *at = (const char *)r + p->at;
	uint64_t v;

	if (fact == PEVTRACE_FACT_PARANOID) {
		*value = (uint64_t)(int64_t)r->paranoid;
		return r->unread & UNREAD_PARANOID ? -ENODATA : 0;
	}
	if (!p->most)
		return -EINVAL;
	v = p->form == FORM_U32 ? *(const uint32_t *)at :
	    p->form == FORM_U64 ? *(const uint64_t *)at : *(const enum fact *)at == FACT_YES;
	if (v < p->least || v > p->most ||
	    (p->form == FORM_KNOWN && *(const enum fact *)at == FACT_UNKNOWN) ||
	    (fact == PEVTRACE_FACT_RELEASE && !r->release) || r->unread & p->unread ||
	    (fact == PEVTRACE_FACT_CAPABILITIES && r->caps_unread))
		return -ENODATA;
	*value = v;
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

void machine_facts(const struct pevtrace_machine *m, const struct rule_ask *ask,
		   struct rule_facts *out)
{
	struct facts f;

	*out = (struct rule_facts){ .machine = m ? m->facts.rules.machine : default_machine };
	out->machine.arch = out->machine.arch ? out->machine.arch : arch_native();
	if (!m || !m->own)
		return;
	f = m->facts;
	pthread_mutex_lock(&m->own->lock);
	facts_target(&f, ask);
	pthread_mutex_unlock(&m->own->lock);
	out->target = f.rules.target;
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
