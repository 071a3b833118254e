// SPDX-License-Identifier: LGPL-2.1-or-later
/* Calls, rules and outcomes as JSON. */
#include <string.h>

#include "core/abi/strings.h"
#include "verbs/judge/judge_show.h"
#include "core/abi/call_decode.h"
#include "verbs/measure/refusal.h"
#include "xlat/tables.h"

void show_json_outcome(const struct show *s, int error)
{
	struct json_text *o = &s->out->object;
	const char *name = error ? error_name(error) : NULL;

	json_add_bool(o, "opens", !error);
	if (error)
		json_add_int(o, "errno", error);
	if (name)
		json_add_string(o, "error", name);
}

void show_json_release(struct sink *k, const char *key, uint32_t release)
{
	struct buf text = { 0 };

	if (!release)
		return;
	release_text(release, &text);
	k->ops->symbol(k, key, buf_str(&text));
	buf_free(&text);
}

void show_json_rule(const struct show *s, const struct rule_desc *d, struct sink *k)
{
	struct buf words = { 0 };

	k->ops->symbol(k, "rule", d->name);
	k->ops->symbol(k, "meaning", d->meaning);
	k->ops->begin(k, "fields", SINK_OBJECT);
	show_fields(s, d, k);
	k->ops->end(k);
	show_json_release(k, "since", d->since);
	show_json_release(k, "until", d->until);
	k->ops->begin(k, "by", SINK_ARRAY);
	for (size_t i = 0; i < xlat_rule_by.n; i++)
		if (d->by & xlat_rule_by.entries[i].value)
			k->ops->symbol(k, NULL, xlat_rule_by.entries[i].meaning);
	k->ops->end(k);
	k->ops->begin(k, "here", SINK_ARRAY);
	for (size_t i = 0; i < xlat_rule_by.n; i++) {
		buf_reset(&words);
		if (d->by & xlat_rule_by.entries[i].value &&
		    show_here(s, xlat_rule_by.entries[i].value, &words))
			k->ops->symbol(k, NULL, buf_str(&words));
	}
	k->ops->end(k);
	buf_free(&words);
}

void show_json_call(const struct show *s, const struct call *c, struct sink *k)
{
	const uint8_t *bytes;
	size_t len;

	bytes = show_attr(c, &len);
	k->ops->begin(k, "args", SINK_OBJECT);
	call_args(c, AT_SYSCALL_ENTER, &s->machine->names, k);
	k->ops->end(k);
	json_add_bytes(&s->out->object, "attr_bytes", bytes, len);
}

struct sink *show_json_begin(const struct show *s)
{
	struct sink *k;

	showing_begin(s->out, false);
	k = s->out->sink;
	k->ops->symbol(k, "call", s->c->call.desc->name);
	if (*s->c->label)
		k->ops->string(k, "label", s->c->label, strlen(s->c->label), false);
	show_json_call(s, &s->c->call, k);
	return k;
}

