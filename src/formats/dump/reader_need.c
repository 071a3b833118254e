// SPDX-License-Identifier: LGPL-2.1-or-later
/* Required members of a line. */
#include "formats/dump/reader_internal.h"

int64_t need_int(struct line *l, const char *key)
{
	int64_t v = 0;

	if (!dump_get_int(l->o, key, &v))
		l->wrong = key;
	return v;
}

uint64_t need_uint(struct line *l, const char *key)
{
	uint64_t v = 0;

	if (!dump_get_uint(l->o, key, &v))
		l->wrong = key;
	return v;
}

unsigned int need_number(struct line *l, const char *key)
{
	uint64_t v = need_uint(l, key);

	if (v > UINT32_MAX)
		l->wrong = key;
	return (unsigned int)v;
}

bool need_bool(struct line *l, const char *key)
{
	bool v = false;

	if (!dump_get_bool(l->o, key, &v))
		l->wrong = key;
	return v;
}

pid_t need_pid(struct line *l, const char *key)
{
	int64_t v = need_int(l, key);

	if (v < -1 || v > INT32_MAX)
		l->wrong = key;
	return (pid_t)v;
}

const char *need_string(struct line *l, const char *key)
{
	const char *v = dump_get_string(l->o, key);

	if (!v)
		l->wrong = key;
	return v;
}
