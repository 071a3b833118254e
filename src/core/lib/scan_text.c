// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/lib/scan_text.h"

#include <string.h>

size_t utf8_at(const char *text, size_t len)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t n = *p < 0x80 ? 1 : *p >= 0xc2 && *p < 0xe0 ? 2 :
		   *p >= 0xe0 && *p < 0xf0 ? 3 : *p >= 0xf0 && *p < 0xf5 ? 4 : 0;

	if (!n || n > len)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	/* overlong forms, surrogates, beyond the last code point */
	if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) ||
	    (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

uint32_t utf8_code(const char *text, size_t size)
{
	const unsigned char *p = (const unsigned char *)text;
	uint32_t code = size == 1 ? *p : *p & (0x7f >> size);

	for (size_t i = 1; i < size; i++)
		code = code << 6 | (p[i] & 0x3f);
	return code;
}

bool utf8_obeyed(uint32_t code)
{
	static const uint32_t ranges[][2] = {
		{ 0, 0x1f }, { 0x7f, 0x9f }, { 0xad, 0xad }, { 0x600, 0x605 }, { 0x61c, 0x61c },
		{ 0x6dd, 0x6dd }, { 0x70f, 0x70f }, { 0x890, 0x891 }, { 0x8e2, 0x8e2 },
		{ 0x180e, 0x180e }, { 0x200b, 0x200f }, { 0x2028, 0x202e }, { 0x2060, 0x206f },
		{ 0xfeff, 0xfeff }, { 0xfff9, 0xfffb }, { 0x110bd, 0x110bd },
		{ 0x110cd, 0x110cd }, { 0x13430, 0x1343f }, { 0x1bca0, 0x1bca3 },
		{ 0x1d173, 0x1d17a }, { 0xe0000, 0xe007f },
	};

	if (code >= ' ' && code < 0x7f) /* most are */
		return false;
	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
		if (code >= ranges[i][0] && code <= ranges[i][1])
			return true;
	return false;
}

/* Return the digit at p in that base, or the base if it is no digit. */
static unsigned int digit_at(const char *p, const char *end, unsigned int base)
{
	unsigned int d = base;
	char c = p == end ? '\0' : (char)(*p | ' ');

	if (p != end && scan_is_digit(*p))
		d = (unsigned int)(*p - '0');
	else if (c >= 'a' && c <= 'f')
		d = (unsigned int)(c - 'a') + 10;
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

const char *scan_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}
