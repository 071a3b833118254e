// SPDX-License-Identifier: LGPL-2.1-or-later
/* What perf_event_open(2) says, tried on this kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "conform/claims.h"
#include "xlat/tables.h"

static void print(void *ctx, const struct claim_result *r)
{
	static const char *const words[] = { "untried", "true", "FALSE" };
	unsigned int *n = ctx;

	n[r->verdict]++;
	printf("%-8s %s (%u)", words[r->verdict], r->claim->name, r->tries);
	if (*r->reason)
		printf(": %s", r->reason);
	if (r->verdict == CLAIM_FALSE)
		printf(": %s; wanted: %s; seen: %s\n%s", r->claim->meaning, r->expected,
		       r->seen, r->calls);
	puts("");
}

int main(int argc, char **argv)
{
	unsigned int n[3] = { 0 };
	const struct claims_options o = {
		.name = argc > 1 ? argv[1] : NULL, .nobody = argc > 2,
	};

	conform_claims(&o, print, n);
	printf("%u true, %u false, %u untried\n", n[1], n[2], n[0]);
}
