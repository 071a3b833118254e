// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The reader of dumps and all that decoding makes of them.  Each line must be to
 * the scanner what it is to json-c; of the whole, text, counts and a new dump are
 * made.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "../unit/scan_oracle.h"
#include "verbs/cmd.h"
#include "fuzz.h"

const unsigned long fuzz_inputs = 3000;

static void try_lines(const char *data, size_t len)
{
	struct json_scan *s = json_scan_new(ORACLE_NESTING);

	while (len) {
		const char *nl = memchr(data, '\n', len);
		size_t n = nl ? (size_t)(nl - data) : len;
		const char *wrong = oracle_disagrees(s, data, n);

		if (wrong) {
			printf("# %.*s\n", (int)n, data);
			fuzz_wrong(wrong, "the line above");
		}
		n += !!nl;
		data += n;
		len -= n;
	}
	json_scan_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *argv[] = {
		"decode", "--keep-going", "-v", "-k", "--records", "--summary", "-o",
		fuzz_shows() ? "/dev/stdout" : "/dev/null", "--json=/dev/zero", NULL, NULL,
	};
	int fd = memfd_create("dump", 0);
	char path[32];

	try_lines((const char *)data, len);
	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	argv[9] = path;
	verb_run(&decode_verb, NULL, 10, argv);
	if (fuzz_shows()) { /* and the dump of it */
		argv[7] = "/dev/null";
		argv[8] = "--json=/dev/stdout";
		verb_run(&decode_verb, NULL, 10, argv);
	}
	close(fd);
	return 0;
}
