// SPDX-License-Identifier: LGPL-2.1-or-later
/* Lookups in the tables that are generated from xlat/. */
#include "core/abi/xlat.h"

#include <string.h>

#include "core/lib/buf.h"
#include "core/lib/list.h"
#include "core/lib/nearest.h"
#include "core/lib/scan_text.h"

uint32_t release_read(const char **at)
{
	uint64_t part[3] = { 0 };
	const char *p = *at;
	int n;

	for (n = 0; n < 3; n++) {
		if ((n && *p++ != '.') || !scan_number(&p, NULL, SCAN_DECIMAL, &part[n]))
			break;
		*at = p;
	}
	if (n < 2 || part[0] > 255 || part[1] > 255)
		return 0;
	return KVER(part[0], part[1], part[2] > 255 ? 255 : part[2]);
}

void release_text(uint32_t v, struct buf *out)
{
	buf_addf(out, "%u.%u", v >> 16, v >> 8 & 0xff);
	if (v & 0xff)
		buf_addf(out, ".%u", v & 0xff);
}

uint32_t release_mainline(uint32_t since)
{
	return since >= KVER(3, 0, 0) && since & 0xff ? (since & ~0xffu) + KVER(0, 1, 0) : since;
}

uint32_t xlat_since(const struct xlat_entry *e, uint32_t release)
{
	return e->update && e->update >> 8 == release >> 8 ? e->update : e->since;
}

const struct xlat_entry *xlat_find(const struct xlat *x, uint64_t value)
{
	size_t lo = 0, hi;

	if (!x)
		return NULL;
	hi = x->n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (x->entries[mid].value < value)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* aliases may precede the name to print */
	for (; lo < x->n && x->entries[lo].value == value; lo++)
		if (!x->entries[lo].traits)
			return &x->entries[lo];
	return NULL;
}

const char *xlat_name(const struct xlat *x, uint64_t value)
{
	const struct xlat_entry *e = xlat_find(x, value);

	return e ? e->name : NULL;
}

const struct xlat_entry *xlat_by_name(const struct xlat *x, const char *name)
{
	size_t prefix;

	if (!x || !name)
		return NULL;
	for (size_t i = 0; i < x->n; i++)
		if (!strcmp(x->entries[i].name, name))
			return &x->entries[i];
	prefix = strlen(x->prefix);
	for (size_t i = 0; i < x->n; i++)
		if (!strcmp(x->entries[i].name + prefix, name))
			return &x->entries[i];
	return NULL;
}

void xlat_offer(const struct xlat *x, bool short_names, struct nearest *n)
{
	for (size_t i = 0; x && i < x->n; i++) {
		const struct xlat_entry *e = &x->entries[i];

		if (e->traits & XLAT_NONABI)
			continue;
		nearest_try(n, e->name);
		if (short_names)
			nearest_try(n, e->name + strlen(x->prefix));
	}
}

/* Store the mask of an entry's bits and the value that they must have. */
static uint64_t entry_mask(const struct xlat *x, const struct xlat_entry *e)
{
	if (x->kind == XLAT_BITS)
		return e->value < 64 ? 1ULL << e->value : 0;
	return x->kind == XLAT_FLAGS ? e->mask : e->value;
}

static bool contained(const struct xlat *x, const struct xlat_entry *e,
		      uint64_t v)
{
	uint64_t mask = entry_mask(x, e);
	uint64_t want = x->kind == XLAT_BITS ? mask : e->value;

	return !e->traits && want && (v & mask) == want;
}

/* Return whether another entry includes this one, as O_SYNC includes O_DSYNC. */
static bool outdone(const struct xlat *x, const struct xlat_entry *e,
		    uint64_t v)
{
	uint64_t mask = entry_mask(x, e);

	for_each(o, x->entries, x->n) {
		uint64_t wider = entry_mask(x, o);

		if (wider != mask && !(mask & ~wider) && contained(x, o, v))
			return true;
	}
	return false;
}

const struct xlat_entry *xlat_next_flag(const struct xlat *x, uint64_t *rest,
					size_t *at)
{
	if (!x)
		return NULL;
	while (*rest && *at < x->n) {
		const struct xlat_entry *e = &x->entries[(*at)++];

		if (contained(x, e, *rest) && !outdone(x, e, *rest)) {
			*rest &= ~entry_mask(x, e);
			return e;
		}
	}
	return NULL;
}

const struct layout *layout_by_name(const char *name)
{
	for (size_t i = 0; name && layouts[i]; i++)
		if (!strcmp(layouts[i]->name, name))
			return layouts[i];
	return NULL;
}

const struct field *layout_field(const struct layout *l, const char *name)
{
	for (size_t i = 0; l && i < l->n; i++)
		if (!strcmp(l->fields[i].name, name))
			return &l->fields[i];
	return NULL;
}

const struct ioctl_desc *ioctl_find(uint32_t request, unsigned int word)
{
	size_t lo = 0, hi = ioctl_ndescs;

	/* the low byte is the number, the same for both word sizes */
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct ioctl_desc *d = &ioctl_descs[mid];

		if ((d->request & 0xff) == (request & 0xff))
			return request == (word == 4 ? d->compat : d->request) ?
			       d : NULL;
		if ((d->request & 0xff) < (request & 0xff))
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

const struct ioctl_desc *ioctl_by_name(const char *name, size_t len)
{
	for (size_t i = 0; i < ioctl_ndescs; i++)
		if (strlen(ioctl_descs[i].name) == len && !memcmp(ioctl_descs[i].name, name, len))
			return &ioctl_descs[i];
	return NULL;
}

void ioctl_offer(struct nearest *n)
{
	for (size_t i = 0; i < ioctl_ndescs; i++)
		nearest_try(n, ioctl_descs[i].name);
}

const struct call_desc *call_by_name(const char *name)
{
	for (size_t i = 0; name && i < CALL_COUNT; i++)
		if (!strcmp(call_descs[i].name, name))
			return &call_descs[i];
	return NULL;
}

const struct arg_desc *call_arg(const struct call_desc *d, const char *name, size_t len)
{
	for (size_t i = 0; i < d->nargs; i++)
		if (strlen(d->args[i].name) == len && !memcmp(d->args[i].name, name, len))
			return &d->args[i];
	return NULL;
}

const char *call_class_name(enum call_class class)
{
	static const char *const names[] = {
		[CLASS_OPEN] = "open", [CLASS_IOCTL] = "ioctl", [CLASS_BPF] = "bpf",
		[CLASS_MEMORY] = "memory",
		[CLASS_POLL] = "poll", [CLASS_READ] = "read", [CLASS_DESC] = "desc",
		[CLASS_PASS] = "pass", [CLASS_PROCESS] = "process",
	};

	return (size_t)class < sizeof(names) / sizeof(*names) ? names[class] : NULL;
}

const struct pmu_desc *pmu_desc_by_name(const char *name)
{
	for (const struct pmu_desc *d = pmu_descs; d->name; d++) {
		size_t n = strcspn(d->name, "*");

		if (!strncmp(d->name, name, n) && (d->name[n] || !name[n]))
			return d;
	}
	return NULL;
}

const struct term_desc *term_by_name(const char *name)
{
	for (const struct term_desc *t = term_descs; t->name; t++)
		if (!strcmp(t->name, name))
			return t;
	return NULL;
}

const struct step_desc *step_by_name(const char *step)
{
	for (const struct step_desc *d = step_descs; d->step; d++)
		if (!strcmp(d->step, step))
			return d;
	return NULL;
}
