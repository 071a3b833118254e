// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace decode DUMP: a dump feeds a session, as a traced program would. */

#include "cli/input.h"
#include "cmd/cmd.h"
#include "cmd/decode/decode.h"
#include "cmd/decode/decode_one.h"
#include "cmd/decode/decode_perfdata.h"
#include "dump/perfdata.h"
#include "lib/die.h"
#include "session/retell.h"

int decode_dump(FILE *f, const char *path, struct options *options)
{
	struct reader *r = reader_open(f, path, options->keep_going);
	struct session session;
	bool whole, written;

	if (!r)
		return EXIT_TROUBLE;
	if (!retell_start(&session, options, r)) {
		reader_close(r);
		return EXIT_TROUBLE;
	}
	whole = retell(&session, r);
	written = session_end(&session);
	reader_close(r);
	return whole && written ? EXIT_YES : EXIT_TROUBLE;
}

int cmd_decode(int argc, char **argv)
{
	struct options options;
	const char *path;
	FILE *f;
	int status;

	if (decode_one_wanted(argc, argv))
		return cmd_decode_one(argc, argv);
	options_parse(&options, OPTIONS_DECODE, argc, argv);
	path = options.argv[0];
	f = input_open(path, &path);
	if (options.explain)
		die("--explain is for tracing; pevtrace explain %s tells a dump's story", path);
	status = perfdata_is(f) ? perfdata_decode(f, path, &options) :
				  decode_dump(f, path, &options);
	input_close(f);
	options_free(&options);
	return status;
}
