// SPDX-License-Identifier: LGPL-2.1-or-later
/* Whose ids records have, and reporting what was read of a process. */
#include "core/lib/die.h"
#include "formats/perfdata/measured_internal.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"

enum { PIECE = 128 /* mappings */ };

struct measured_space *measured_space_of(struct measured *m, const struct pidns *ns)
{
	for (size_t i = 0; i < m->nspaces; i++)
		if (m->spaces[i]->ns.inode == ns->inode)
			return m->spaces[i];
	m->spaces = xrealloc(m->spaces, (m->nspaces + 1) * sizeof(struct measured_space *));
	m->spaces[m->nspaces] = xcalloc(1, sizeof(struct measured_space));
	m->spaces[m->nspaces]->ns = *ns;
	return m->spaces[m->nspaces++];
}

struct measured_space *measured_space_of_event(struct measured *m, const struct event *e)
{
	struct measured_space *space = map_get(&m->openers, (uint64_t)e->opener);
	struct pidns ns;

	if (event_single_task(e) > 0 && !(event_attr(e, ATTR_SAMPLE_TYPE) & PERF_SAMPLE_TID))
		return m->spaces[0];
	if (!space) {
		ns = proc_pidns(e->opener);
		space = measured_space_of(m, &ns);
		map_set(&m->openers, (uint64_t)e->opener, space);
	}
	return space;
}

void measured_report(struct measured *m, uint64_t ns, const struct proc_image *p)
{
	struct proc_image piece = *p;
	size_t at = 0;

	do {
		piece.maps = p->maps ? p->maps + at : NULL;
		piece.nmaps = p->nmaps - at < PIECE ? p->nmaps - at : PIECE;
		session_feed(m->session, &(struct activity){
			ACTIVITY_MEASURED, .measured = { piece, ns },
		});
		piece.nthreads = 0;
		piece.nfunctions = 0;
		piece.records.len = 0;
		at += piece.nmaps;
	} while (at < p->nmaps);
}
