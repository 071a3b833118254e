// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/lib/progress.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/lib/buf.h"
#include "core/lib/clock.h"
#include "core/lib/pager.h"

#define FIRST_NS 1000000000ULL
#define AGAIN_NS 200000000ULL

static bool feeds_program(void)
{
	struct stat st;

	return !fstat(STDOUT_FILENO, &st) && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

void progress_start(struct progress *p, const char *what)
{
	*p = (struct progress){
		.what = what,
		.on = isatty(STDERR_FILENO) && !terminal_is_dumb() && !feeds_program(),
		.next_ns = clock_ns() + FIRST_NS,
	};
}

void progress_show(struct progress *p, const char *text)
{
	struct winsize size;
	int columns = 80;

	if (!p->on)
		return;
	if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		columns = size.ws_col;
	p->shown = true;
	fprintf(stderr, "\r%.*s\033[K", columns - 1, text);
	fflush(stderr);
}

bool progress_is_due(const struct progress *p)
{
	return p->on && clock_ns() >= p->next_ns;
}

void progress_step(struct progress *p, uint64_t done, uint64_t total)
{
	struct buf line = { 0 };

	if (!progress_is_due(p) || !total)
		return;
	p->next_ns = clock_ns() + AGAIN_NS;
	buf_addf(&line, "%llu of %llu %s (%llu%%)", (unsigned long long)done,
		 (unsigned long long)total, p->what, (unsigned long long)(100 * done / total));
	progress_show(p, buf_str(&line));
	buf_free(&line);
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
}
