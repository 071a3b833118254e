// SPDX-License-Identifier: LGPL-2.1-or-later
/* The names in the lines of a dump. */
#include "core/abi/bpf.h"
#include "core/lib/hash.h"
#include "formats/dump/reader_internal.h"

static const struct reader_names *reader_self(const struct names *n)
{
	return (const struct reader_names *)n;
}

/* Return a hash of the parts; a collision affects only names of the dump that has it. */
static uint64_t terms_key(uint64_t type, const uint64_t *config, size_t n)
{
	uint64_t key = hash_word(HASH_START, type);

	for (size_t i = 0; i < n; i++)
		key = hash_word(key, config[i]);
	return key;
}

static uint64_t reader_fd_key(int64_t tid, int64_t fd)
{
	return (uint64_t)tid << 32 | (uint32_t)fd;
}

static const char *reader_name_pmu(const struct names *n, uint32_t type)
{
	return map_get(&reader_self(n)->pmus, type);
}

static const char *reader_name_tracepoint(const struct names *n, uint64_t id)
{
	return map_get(&reader_self(n)->tracepoints, id);
}

static const char *reader_name_terms(const struct names *n, uint32_t type,
				     const uint64_t *config, size_t nconfigs)
{
	return map_get(&reader_self(n)->terms, terms_key(type, config, nconfigs));
}

static const char *reader_name_fd(const struct names *n, const struct call *c, int64_t fd)
{
	return map_get(&reader_self(n)->fds, reader_fd_key(c->tid, fd));
}

static const struct bpf_program *reader_name_program(const struct names *n, const struct call *c,
						      int64_t fd)
{
	return map_get(&reader_self(n)->programs, reader_fd_key(c->tid, fd));
}

static const char *reader_name_format(const struct names *n, uint64_t id)
{
	return map_get(&reader_self(n)->formats, id);
}

static uint64_t symbol_key(int64_t pid, uint64_t ip, uint64_t cpumode, bool after_call)
{
	return hash_word(hash_word(hash_word(HASH_START, (uint64_t)pid), ip),
			 cpumode << 1 | after_call);
}

/* Return a symbol; in older dumps an address has one name, with and without after_call. */
static const char *reader_name_symbol(const struct names *n, int32_t pid, uint64_t ip,
				      unsigned int cpumode, bool after_call)
{
	const char *name = map_get(&reader_self(n)->symbols,
				   symbol_key(pid, ip, cpumode, after_call));

	if (!name && after_call)
		name = map_get(&reader_self(n)->symbols, symbol_key(pid, ip, cpumode, false));
	return name && *name ? name : NULL;
}

/* Set a name, or remove it if name is NULL. */
static void reader_put(struct map *m, uint64_t key, const char *name)
{
	free(name ? map_set(m, key, xstrdup(name)) : map_del(m, key));
}

bool reader_names_add(struct reader_names *n, const struct activity *a)
{
	const struct activity_name_symbol *s = &a->name_symbol;
	const struct activity_name_terms *t = &a->name_terms;
	const struct activity_name_program *p = &a->name_program;
	struct bpf_program *program = NULL;
	uint64_t key;

	switch (a->kind) {
	case ACTIVITY_NAME_PMU:
		reader_put(&n->pmus, a->name_pmu.type, a->name_pmu.name);
		return true;
	case ACTIVITY_NAME_TRACEPOINT:
		reader_put(&n->tracepoints, a->name_tracepoint.id, a->name_tracepoint.name);
		return true;
	case ACTIVITY_NAME_TERMS:
		reader_put(&n->terms, terms_key(t->type, t->config, t->nconfigs), t->name);
		return true;
	case ACTIVITY_NAME_FORMAT:
		reader_put(&n->formats, a->name_format.id, a->name_format.name);
		return true;
	case ACTIVITY_NAME_SYMBOL: /* "": no longer named */
		reader_put(&n->symbols, symbol_key(s->pid, s->ip, s->cpumode, s->after_call),
			   s->name ? s->name : "");
		return true;
	case ACTIVITY_NAME_FD:
		reader_put(&n->fds, reader_fd_key(a->name_fd.tid, a->name_fd.fd), a->name_fd.name);
		return true;
	default:
		break;
	}
	/* a descriptor's program, which is removed if it has no name */
	if (p->name && !bpf_program_name_valid(p->name))
		return false;
	key = reader_fd_key(p->tid, p->fd);
	if (p->name) {
		program = xcalloc(1, sizeof(*program));
		program->id = p->id;
		program->type = p->type;
		strcpy(program->name, p->name);
	}
	free(program ? map_set(&n->programs, key, program) : map_del(&n->programs, key));
	return true;
}

void reader_names_init(struct reader_names *n, uint32_t page_size)
{
	n->hooks = (struct names){
		.pmu = reader_name_pmu, .tracepoint = reader_name_tracepoint,
		.terms = reader_name_terms,
		.fd = reader_name_fd, .format = reader_name_format, .symbol = reader_name_symbol,
		.program = reader_name_program,
		.page_size = page_size,
	};
}

void reader_names_free(struct reader_names *n)
{
	map_free_values(&n->pmus);
	map_free_values(&n->tracepoints);
	map_free_values(&n->terms);
	map_free_values(&n->fds);
	map_free_values(&n->formats);
	map_free_values(&n->symbols);
	map_free_values(&n->programs);
}
