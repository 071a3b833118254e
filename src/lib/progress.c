// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "lib/clock.h"

#define FIRST_NS 1000000000ULL
#define AGAIN_NS 200000000ULL

void progress_start(struct progress *p, const char *what)
{
	*p = (struct progress){
		.what = what, .on = isatty(STDERR_FILENO), .next_ns = clock_ns() + FIRST_NS,
	};
}

void progress_step(struct progress *p, uint64_t done, uint64_t total)
{
	uint64_t now = p->on ? clock_ns() : 0;

	if (!p->on || now < p->next_ns || !total)
		return;
	p->next_ns = now + AGAIN_NS;
	p->shown = true;
	fprintf(stderr, "\r%llu of %llu %s (%llu%%)\033[K", (unsigned long long)done,
		(unsigned long long)total, p->what, (unsigned long long)(100 * done / total));
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
}
