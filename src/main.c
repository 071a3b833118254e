// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string.h>

#include "cmd/cmd.h"
#include "learn/learn.h"

static const struct verb {
	const char *name;
	int (*run)(int argc, char **argv);
} verbs[] = {
	{ "trace", cmd_trace },
	{ "decode", cmd_decode },
	{ "diff", cmd_diff },
	{ "check", cmd_check },
	{ "open", cmd_open },
	{ "watch", cmd_watch },
	{ "codegen", cmd_codegen },
	{ "explain", cmd_explain },
	{ "features", cmd_features },
	{ "why", cmd_why },
	{ "replay", cmd_replay },
	{ "learn", cmd_learn },
	{ "conform", cmd_conform },
	{ "report", cmd_report },
};

int main(int argc, char **argv)
{
	/* a first word that is a verb is a verb; everything else is a trace */
	for (size_t i = 0; argc > 1 && i < sizeof(verbs) / sizeof(*verbs); i++)
		if (!strcmp(argv[1], verbs[i].name))
			return verbs[i].run(argc - 1, argv + 1);
	return cmd_trace(argc, argv);
}
