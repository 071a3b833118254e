// SPDX-License-Identifier: LGPL-2.1-or-later
/* The account of rows and sentences, as lines. */
#include <string.h>

#include "conform/verb/conform.h"
#include "conform/accounting.h"

enum { ACCOUNT_KINDS = 8 };

struct account_lines {
	struct conform_cmd *cmd;
	const char *kinds[ACCOUNT_KINDS];	/* in the order of their first line */
	size_t counts[ACCOUNT_KINDS][ACCOUNTS];
};

static void count_account(struct account_lines *l, const char *kind, enum account account)
{
	size_t i = 0;

	while (i < ACCOUNT_KINDS && l->kinds[i] && strcmp(l->kinds[i], kind))
		i++;
	if (i == ACCOUNT_KINDS)
		return;
	l->kinds[i] = kind;
	l->counts[i][account]++;
}

/* Write all that does not match; with --verbose, also what does. */
static void account_line(void *ctx, const char *kind, enum account account, unsigned int line,
			 const char *text, const char *why)
{
	struct account_lines *l = ctx;
	char number[16] = "-";

	count_account(l, kind, account);
	if (!l->cmd->verbose && (account == ACCOUNT_MATCHED || account == ACCOUNT_NAMES))
		return;
	if (line)
		snprintf(number, sizeof(number), "%u", line);
	conform_line(l->cmd, "%-9s %-10s %5s  %s%s%s", kind, account_names[account], number, text,
		     *why ? ": " : "", why);
}

void conform_accounting(struct conform_cmd *cmd)
{
	struct account_lines l = { .cmd = cmd };

	accounting(&cmd->c, account_line, &l);
	for (size_t i = 0; i < ACCOUNT_KINDS && l.kinds[i]; i++) {
		struct buf b = { 0 };

		for (int j = 0; j < ACCOUNTS; j++)
			if (l.counts[i][j])
				buf_addf(&b, "%s%zu %s", b.len ? ", " : "", l.counts[i][j],
					 account_names[j]);
		conform_line(cmd, "total %s: %s", l.kinds[i], buf_str(&b));
		buf_free(&b);
	}
}
