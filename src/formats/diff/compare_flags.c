// SPDX-License-Identifier: LGPL-2.1-or-later
/* Comparing sets of flags in normal form, "A+B". */
#include <string.h>

#include "formats/diff/compare.h"

static bool is_flags(const char *v)
{
	return v && (strchr(v, '+') || (*v >= 'A' && *v <= 'Z'));
}

static bool has_name(const char *set, const char *name, size_t n)
{
	for (const char *at = set; at; at = strchr(at, '+') ? strchr(at, '+') + 1 : NULL)
		if (!strncmp(at, name, n) && (!at[n] || at[n] == '+'))
			return true;
	return false;
}

/* Append the names in one set that are not in the other, each after a space. */
static void missing(const char *set, const char *from, struct buf *out)
{
	while (set && *set && strcmp(set, "0")) {
		size_t n = strcspn(set, "+");

		if (!from || !has_name(from, set, n)) {
			buf_addc(out, ' ');
			buf_add(out, set, n);
		}
		set += n + !!set[n];
	}
}

bool compare_flags(const char *key, const char *a, const char *b, struct buf *added,
		   struct buf *removed)
{
	bool zero_a = !a || !strcmp(a, "0"), zero_b = !b || !strcmp(b, "0");

	if (!strcmp(key, "result") || !(is_flags(a) || zero_a) || !(is_flags(b) || zero_b))
		return false;
	/* a single name in place of another is a value, not a set */
	if (!(a && strchr(a, '+')) && !(b && strchr(b, '+')) && !zero_a && !zero_b)
		return false;
	missing(b, a, added);
	missing(a, b, removed);
	return true;
}
