// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Lines shortened to a width: they fit, and a line that fits is unchanged.  Lines broken at that
 * width: they have the same words.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "formats/text/text_fit.h"

static void skip_blanks(const char **p)
{
	*p += strspn(*p, " \n");
}

static void wrap(const uint8_t *data, size_t len, size_t width)
{
	struct buf text = { 0 }, was = { 0 };
	const char *a, *b;

	for (size_t i = 1; i < len && text.len < 2000; i++)
		if (data[i] >= ' ' || strchr("\033\n", data[i]))
			buf_addc(&text, data[i] ? (char)data[i] : ' ');
	buf_add(&was, buf_str(&text), text.len);
	text_wrap(&text, width);
	a = buf_str(&was);
	b = buf_str(&text);
	do {
		skip_blanks(&a);
		skip_blanks(&b);
		if (*a != *b)
			fuzz_wrong("other words in", buf_str(&text));
	} while (*a++ && *b++);
	buf_free(&text);
	buf_free(&was);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	size_t width = len ? 20 + data[0] : 20, before;
	const struct call_desc *desc = len > 1 && data[1] & 1 ? &call_descs[data[1] / 2 % call_ndescs] :
								NULL;
	struct buf line = { 0 };
	char *was;

	/* a line has no other control bytes than those of colours */
	for (size_t i = 1; i < len && line.len < 2000; i++)
		if (data[i] >= ' ' || data[i] == '\033')
			buf_addc(&line, (char)data[i]);
	was = strdup(buf_str(&line));
	before = text_columns(was);
	text_fit(&line, desc, &rule_descs[RULE_NO_PMU], width);
	if (before + (desc ? 3 : 0) <= width && strcmp(was, buf_str(&line)))
		fuzz_wrong("changed a line that fits", was);
	for (char *save, *part = line.len ? strtok_r(line.data, "\n", &save) : NULL; part; part = strtok_r(NULL, "\n", &save))
		if (text_columns(part) > width)
			fuzz_wrong("wider than asked", part);
	free(was);
	buf_free(&line);
	wrap(data, len, width);
	return 0;
}
