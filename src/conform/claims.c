// SPDX-License-Identifier: LGPL-2.1-or-later
#include "conform/claims.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/abi/strings.h"
#include "conform/claim.h"
#include "experiment/trial.h"
#include "xlat/tables.h"

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

static void try_claim(const struct claim_desc *c, struct claim_lab *lab, unsigned int tries,
		      struct claim_outcome *outcome, struct claim_result *r)
{
	uint32_t release = running_release();

	*r = (struct claim_result){ .claim = c };
	memset(outcome, 0, sizeof(*outcome));
	if (lab->gate) {
		snprintf(outcome->reason, sizeof(outcome->reason),
			 "blocked: every call fails before it reaches perf, with %s",
			 error_name(lab->gate) ?: "an error");
	} else if (release < c->since) {
		snprintf(outcome->reason, sizeof(outcome->reason),
			 "it applies to Linux %u.%u and later", c->since >> 16,
			 c->since >> 8 & 255);
	} else if (c->until && release >= c->until) {
		snprintf(outcome->reason, sizeof(outcome->reason),
			 "it applies to Linux before %u.%u", c->until >> 16, c->until >> 8 & 255);
	} else {
		if (strstr(c->steps, "$exact"))
			claim_choose_exact(lab);
		do
			claim_try(c, lab, outcome);
		while (++r->tries < tries && (outcome->verdict == CLAIM_FALSE || !outcome->done));
		claim_check_control(lab, outcome);
	}
	r->verdict = outcome->verdict;
	r->reason = r->verdict == CLAIM_UNTRIED ? outcome->reason : "";
	r->expected = r->verdict == CLAIM_FALSE ? outcome->expected : "";
	r->seen = r->verdict == CLAIM_FALSE ? outcome->seen : "";
	r->calls = outcome->calls;
}

int conform_claims(const struct claims_options *opts,
		   void (*report)(void *ctx, const struct claim_result *r), void *ctx)
{
	const struct claim_desc *all = opts->claims ? opts->claims : claim_descs;
	struct claim_outcome *outcome = mmap(NULL, 2 * sizeof(*outcome), PROT_READ | PROT_WRITE,
					     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct claim_lab lab = { .nobody = opts->nobody, .control = outcome + 1 };
	struct claim_result r;
	int wrong = 0;

	if (outcome == MAP_FAILED)
		return -ENOMEM;
	lab.gate = trial_gate();
	lab.known.host = host_new("/sys", NULL);
	for (const struct claim_desc *c = all; c->name; c++) {
		if (!is_chosen(opts, c))
			continue;
		try_claim(c, &lab, opts->tries ? opts->tries : CLAIM_TRIES, outcome, &r);
		wrong += r.verdict == CLAIM_FALSE;
		report(ctx, &r);
	}
	host_free(lab.known.host);
	munmap(outcome, 2 * sizeof(*outcome));
	return wrong;
}
