// SPDX-License-Identifier: LGPL-2.1-or-later
/* The feature sections of perf.data files that contain names, and what all readers use. */
#include <sys/utsname.h>

#include "core/abi/swap.h"
#include "core/abi/tables.h"
#include "formats/perfdata/perfdata_internal.h"

struct perfdata_event *perfdata_event_of(const struct perfdata *p, uint64_t id)
{
	uintptr_t at = (uintptr_t)map_get(&p->by_id, id);

	return at ? &p->events[at - 1] : NULL;
}

uint64_t perfdata_load(const struct perfdata *p, const void *bytes, size_t width)
{
	return p->swapped ? swap_load(bytes, width) : load_uint(bytes, width);
}

bool perfdata_broken(struct perfdata *p, const char *fmt, ...)
{
	struct buf why = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&why, fmt, ap);
	va_end(ap);
	if (!p->broken)
		warn("%s: %s; the file is cut off or damaged", p->file.path, buf_str(&why));
	p->broken = true;
	buf_free(&why);
	return false;
}

void perfdata_set_name(struct perfdata_event *e, const char *name, size_t len)
{
	free(e->name);
	e->name = xstrndup(name, len);
}

/* The unread bytes of a section; cut: it is shorter than it states. */
struct section {
	const struct perfdata *of;
	const uint8_t *at, *end;
	bool cut;
};

static uint64_t feature_read_uint(struct section *s, size_t width)
{
	uint64_t v;

	if ((size_t)(s->end - s->at) < width) {
		s->cut = true;
		s->at = s->end;
		return 0;
	}
	v = perfdata_load(s->of, s->at, width);
	s->at += width;
	return v;
}

/* Read a length and a string of that size, which a NUL may end earlier; "" when cut. */
static const char *feature_read_string(struct section *s, size_t *len)
{
	size_t room = feature_read_uint(s, 4);
	const char *text = (const char *)s->at;

	*len = 0;
	if (room > (size_t)(s->end - s->at)) {
		s->cut = true;
		s->at = s->end;
		return "";
	}
	*len = strnlen(text, room);
	s->at += room;
	return text;
}

void perfdata_read_desc(struct perfdata *p)
{
	struct section s = { .of = p, .at = p->desc, .end = p->desc + p->desc_len };
	uint64_t n = feature_read_uint(&s, 4), attr_size = feature_read_uint(&s, 4);

	for (uint64_t i = 0; i < n && !s.cut; i++) {
		struct perfdata_event *e = NULL;
		uint64_t nids;
		const char *name;
		size_t len;

		if (attr_size > (size_t)(s.end - s.at)) {
			s.cut = true;
			break;
		}
		s.at += attr_size;
		nids = feature_read_uint(&s, 4);
		name = feature_read_string(&s, &len);
		if (n == p->nevents)
			e = &p->events[i];
		else if (nids && s.end - s.at >= 8)
			e = perfdata_event_of(p, perfdata_load(p, s.at, 8));
		if (nids > (size_t)(s.end - s.at) / 8)
			s.cut = true;
		else
			s.at += 8 * nids;
		if (e && !e->name && !s.cut)
			perfdata_set_name(e, name, len);
	}
	if (s.cut)
		perfdata_broken(p, "the names of events are truncated");
}

static void read_pmus(struct perfdata *p, struct section *s)
{
	uint64_t n = feature_read_uint(s, 4);

	for (uint64_t i = 0; i < n && !s->cut; i++) {
		uint64_t type = feature_read_uint(s, 4);
		size_t len;
		const char *text = feature_read_string(s, &len);

		if (!s->cut && !map_get(&p->pmus, type)) {
			char *name = xcalloc(1, len + 1);

			memcpy(name, text, len);
			map_set(&p->pmus, type, name);
		}
	}
}

void perfdata_read_feature(struct perfdata *p, uint64_t id, const uint8_t *bytes,
			   size_t len)
{
	struct section s = { .of = p, .at = bytes, .end = bytes + len };
	char arch[32] = "";
	struct utsname u;
	const char *text;
	size_t n;

	switch (id) {
	case HEADER_EVENT_DESC:
		free(p->desc);
		p->desc = xmalloc(len + 1);
		memcpy(p->desc, bytes, len);
		p->desc_len = len;
		return;
	case HEADER_PMU_MAPPINGS:
		read_pmus(p, &s);
		break;
	case HEADER_ARCH:
		text = feature_read_string(&s, &n);
		memcpy(arch, text, n < sizeof(arch) ? n : sizeof(arch) - 1);
		p->arch = arch_by_name(arch[0] == 'i' && !strcmp(arch + 2, "86") ? "x86" :
				       !strncmp(arch, "armv", 4) ? "arm" : arch);
		break;
	case HEADER_HOSTNAME:
	case HEADER_OSRELEASE:
		text = feature_read_string(&s, &n);
		if (uname(&u))
			break;
		if (id == HEADER_HOSTNAME)
			p->same_host = strlen(u.nodename) == n && !memcmp(text, u.nodename, n);
		else
			p->same_release = strlen(u.release) == n && !memcmp(text, u.release, n);
		break;
	}
	if (s.cut)
		perfdata_broken(p, "its %s is truncated", xlat_name(&xlat_perf_header_feature, id));
}
