// SPDX-License-Identifier: LGPL-2.1-or-later
#include "conform/claims.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conform/claim.h"
#include "xlat/tables.h"

/*
 * What is false once may have been disturbed, by other users of breakpoints and
 * rings, or by a scheduler that had something else to do.
 */
enum { TRIES = 4 };

static uint32_t running_release(void)
{
	struct utsname u = { 0 };
	const char *release = u.release;

	uname(&u);
	return release_read(&release);
}

static bool is_chosen(const struct claims_options *o, const struct claim_desc *c)
{
	return (!o->since || c->since >= o->since) &&
	       (!o->section || strcasestr(c->section, o->section)) &&
	       (!o->name || !fnmatch(o->name, c->name, 0));
}

static void try_once(const struct claim_desc *c, bool nobody, struct claim_told *told)
{
	pid_t pid;

	memset(told, 0, sizeof(*told));
	fflush(NULL);
	pid = fork();
	if (!pid)
		claim_run(c, nobody, told);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (pid > 0 && told->done)
		return;
	told->verdict = CLAIM_UNTRIED;
	snprintf(told->reason, sizeof(told->reason), "%s", pid > 0 ?
		 "the experiment came to no end" : "no process could be had for it");
}

static void try_claim(const struct claim_desc *c, const struct claims_options *o,
		      struct claim_told *told, struct claim_result *r)
{
	unsigned int tries = o->tries ? o->tries : TRIES;
	uint32_t release = running_release();

	*r = (struct claim_result){ .claim = c };
	memset(told, 0, sizeof(*told));
	if (release < c->since) {
		snprintf(told->reason, sizeof(told->reason), "it is about Linux %u.%u and later",
			 c->since >> 16, c->since >> 8 & 255);
	} else if (c->until && release >= c->until) {
		snprintf(told->reason, sizeof(told->reason), "it is about Linux before %u.%u",
			 c->until >> 16, c->until >> 8 & 255);
	} else {
		do
			try_once(c, o->nobody, told);
		while (++r->tries < tries && (told->verdict == CLAIM_FALSE || !told->done));
	}
	r->verdict = told->verdict;
	r->reason = r->verdict == CLAIM_UNTRIED ? told->reason : "";
	r->expected = r->verdict == CLAIM_FALSE ? told->expected : "";
	r->seen = r->verdict == CLAIM_FALSE ? told->seen : "";
	r->calls = told->calls;
}

int conform_claims(const struct claims_options *opts,
		   void (*report)(void *ctx, const struct claim_result *r), void *ctx)
{
	const struct claim_desc *all = opts->claims ? opts->claims : claim_descs;
	struct claim_told *told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct claim_result r;
	int wrong = 0;

	if (told == MAP_FAILED)
		return -ENOMEM;
	for (const struct claim_desc *c = all; c->name; c++) {
		if (!is_chosen(opts, c))
			continue;
		try_claim(c, opts, told, &r);
		wrong += r.verdict == CLAIM_FALSE;
		report(ctx, &r);
	}
	munmap(told, sizeof(*told));
	return wrong;
}
