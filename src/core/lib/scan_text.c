// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/lib/scan_text.h"

static unsigned int digit_value(char c)
{
	if (scan_is_digit(c))
		return (unsigned int)(c - '0');
	c = (char)(c | ' ');
	return c >= 'a' && c <= 'f' ? (unsigned int)(c - 'a') + 10 : 16;
}

/* Return the digit at p in that base, or the base if it is no digit. */
static unsigned int digit_at(const char *p, const char *end, unsigned int base)
{
	unsigned int d = p == end ? base : digit_value(*p);

	return d < base ? d : base;
}

bool scan_number(const char **at, const char *end, unsigned int base, uint64_t *v)
{
	const char *p = *at;
	bool fits = true;
	unsigned int d;

	if (base == SCAN_C) {
		base = SCAN_DECIMAL;
		if (p != end && *p == '0') {
			base = 8;
			if (p + 1 != end && (p[1] | ' ') == 'x' && digit_at(p + 2, end, 16) < 16) {
				base = 16;
				p += 2;
			}
		}
	}
	if (digit_at(p, end, base) == base)
		return false;
	for (*v = 0; (d = digit_at(p, end, base)) < base; p++) {
		fits = fits && *v <= (UINT64_MAX - d) / base;
		*v = *v * base + d;
	}
	*at = p;
	return fits;
}

bool scan_whole(const char *text, unsigned int base, uint64_t least, uint64_t most,
		uint64_t *v)
{
	return scan_number(&text, NULL, base, v) && !*text && *v >= least && *v <= most;
}

bool scan_signed(const char *text, unsigned int base, int64_t least, int64_t most,
		 int64_t *v)
{
	bool minus = *text == '-';
	uint64_t n;

	if (!scan_whole(text + minus, base, 0, (uint64_t)INT64_MAX + minus, &n))
		return false;
	*v = (int64_t)(minus ? -n : n);
	return *v >= least && *v <= most;
}

bool scan_range(const char **at, uint64_t *first, uint64_t *last)
{
	if (!scan_number(at, NULL, SCAN_DECIMAL, first))
		return false;
	*last = *first;
	if (**at == '-' && (++*at, !scan_number(at, NULL, SCAN_DECIMAL, last)))
		return false;
	if (**at == ',' && scan_is_digit((*at)[1]))
		++*at;
	else if (**at)
		return false;
	return *first <= *last;
}

size_t scan_word(const char *at, const char *end)
{
	const char *p = at;

	while (p != end && scan_is_word(*p))
		p++;
	return (size_t)(p - at);
}

const char *scan_blanks(const char *at, const char *end)
{
	while (at < end && scan_is_blank(*at))
		at++;
	return at;
}
