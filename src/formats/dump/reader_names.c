// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/dump/reader_names.h"

#include <stdlib.h>
#include <string.h>

#include "core/abi/bpf.h"
#include "formats/dump/dump_read.h"
#include "core/lib/buf.h"
#include "core/lib/die.h"
#include "core/lib/hash.h"
#include "core/lib/map.h"

enum { CONFIGS = 8 };

struct reader_names {
	struct names hooks;	/* first: the hooks cast it back */
	/* keys to allocated names */
	struct map pmus, tracepoints, terms, fds, formats, symbols;
	struct map programs;	/* to struct bpf_program */
};

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

static bool reader_add_terms(struct reader_names *n, struct json_value *o, const char *name)
{
	struct json_value *list = dump_get_array(o, "config"), *word;
	uint64_t type, config[CONFIGS];
	size_t count = 0;

	if (!dump_get_uint(o, "type", &type) || !list || !list->len || list->len > CONFIGS)
		return false;
	json_for_each(word, list)
		if (!dump_hex(word, &config[count++]))
			return false;
	reader_put(&n->terms, terms_key(type, config, count), name);
	return true;
}

bool reader_program(struct json_value *o, const char *name, struct bpf_program *p)
{
	uint64_t id, type;

	if (!dump_get_uint(o, "id", &id) || !dump_get_uint(o, "type", &type) ||
	    id > UINT32_MAX || type > UINT32_MAX || !name || !bpf_program_name_valid(name))
		return false;
	*p = (struct bpf_program){ .id = (uint32_t)id, .type = (uint32_t)type };
	strcpy(p->name, name);
	return true;
}

/* Set the program of a descriptor, or remove it if name is NULL. */
static bool reader_add_program(struct reader_names *n, struct json_value *o, const char *name)
{
	struct bpf_program *p = NULL, program;
	int64_t tid, fd;

	if (!dump_get_int(o, "tid", &tid) || !dump_get_int(o, "fd", &fd))
		return false;
	if (name) {
		if (!reader_program(o, name, &program))
			return false;
		p = xmalloc(sizeof(*p));
		*p = program;
	}
	free(p ? map_set(&n->programs, reader_fd_key(tid, fd), p) :
	     map_del(&n->programs, reader_fd_key(tid, fd)));
	return true;
}

bool reader_names_add(struct reader_names *n, struct json_value *o)
{
	const char *of = dump_get_string(o, "of"), *name = dump_get_text(o, "name");
	uint64_t key, ip;
	bool after_call = false;
	int64_t tid, fd;

	dump_get_bool(o, "after_call", &after_call);
	if (of && !strcmp(of, "pmu") && dump_get_uint(o, "type", &key))
		reader_put(&n->pmus, key, name);
	else if (of && !strcmp(of, "tracepoint") && dump_get_uint(o, "id", &key))
		reader_put(&n->tracepoints, key, name);
	else if (of && !strcmp(of, "format") && dump_get_uint(o, "id", &key))
		reader_put(&n->formats, key, name);
	else if (of && !strcmp(of, "symbol") && dump_get_int(o, "pid", &tid) &&
		 dump_get_hex(o, "ip", &ip) && dump_get_uint(o, "cpumode", &key))
		/* "": no longer named */
		reader_put(&n->symbols, symbol_key(tid, ip, key, after_call), name ? name : "");
	else if (of && !strcmp(of, "fd") && dump_get_int(o, "tid", &tid) &&
		 dump_get_int(o, "fd", &fd))
		reader_put(&n->fds, reader_fd_key(tid, fd), name);
	else if (of && !strcmp(of, "program"))
		return reader_add_program(n, o, name);
	else
		return of && !strcmp(of, "terms") && reader_add_terms(n, o, name);
	return true;
}

const struct names *reader_names_hooks(const struct reader_names *n)
{
	return &n->hooks;
}

struct reader_names *reader_names_new(uint32_t page_size)
{
	struct reader_names *n = xcalloc(1, sizeof(*n));

	n->hooks = (struct names){
		.pmu = reader_name_pmu, .tracepoint = reader_name_tracepoint,
		.terms = reader_name_terms,
		.fd = reader_name_fd, .format = reader_name_format, .symbol = reader_name_symbol,
		.program = reader_name_program,
		.page_size = page_size,
	};
	return n;
}

void reader_names_free(struct reader_names *n)
{
	if (!n)
		return;
	map_free_values(&n->pmus);
	map_free_values(&n->tracepoints);
	map_free_values(&n->terms);
	map_free_values(&n->fds);
	map_free_values(&n->formats);
	map_free_values(&n->symbols);
	map_free_values(&n->programs);
	free(n);
}
