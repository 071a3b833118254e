// SPDX-License-Identifier: LGPL-2.1-or-later
/* Calls, rules and outcomes as JSON. */
#include <string.h>

#include "cmd/check/check_show.h"
#include "abi/call_decode.h"
#include "dump/dump_line.h"
#include "measure/refusal.h"
#include "xlat/tables.h"

static const char *const verdict_words[] = {
	[CHECK_OPENS] = "opens", [CHECK_REFUSED] = "refused",
	[CHECK_UNFORESEEN] = "unforeseen", [CHECK_BLOCKED] = "blocked",
	[CHECK_DISAGREEMENT] = "disagreement",
};

void show_json_outcome(const struct show *s, int error)
{
	const struct json_sink *j = &s->out->object;
	struct json_object *o = j->level[j->depth].object;
	const char *name = error ? strerrorname_np(error) : NULL;

	dump_add_bool(o, "opens", !error);
	if (error)
		dump_add_int(o, "errno", error);
	if (name)
		dump_add_string(o, "error", name);
}

static void json_release(struct sink *k, const char *key, uint32_t release)
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
	json_release(k, "since", d->since);
	json_release(k, "until", d->until);
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

static void json_rules(const struct show *s, struct sink *k, const char *key, bool refusing)
{
	k->ops->begin(k, key, SINK_ARRAY);
	for (size_t i = 0; i < RULE_COUNT; i++) {
		int says = s->r->judged.says[i];
		bool it = refusing ? says == RULE_REFUSES || says > 0 : says == RULE_UNKNOWN;

		if (&rule_descs[i] == s->r->judged.rule && !refusing)
			break;
		if (it && &rule_descs[i] != s->r->judged.rule)
			k->ops->symbol(k, NULL, rule_descs[i].name);
	}
	k->ops->end(k);
}

void show_json_call(const struct show *s, const struct call *c, struct sink *k)
{
	const struct json_sink *j = &s->out->object;
	const uint8_t *bytes;
	size_t len;

	bytes = show_attr(c, &len);
	k->ops->begin(k, "args", SINK_OBJECT);
	call_args(c, AT_SYSCALL_ENTER, &s->machine->names, k);
	k->ops->end(k);
	json_add(j->level[j->depth].object, "attr_bytes",
			       json_bytes(bytes, len));
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

void show_json_check(const struct show *s)
{
	struct sink *k = show_json_begin(s);

	k->ops->begin(k, "predicted", SINK_OBJECT);
	show_json_outcome(s, s->r->judged.error);
	if (s->r->judged.rule)
		show_json_rule(s, s->r->judged.rule, k);
	k->ops->end(k);
	json_rules(s, k, "also", true);
	json_rules(s, k, "unknown", false);
	if (s->c->from_dump && s->c->returned) {
		k->ops->begin(k, "dump", SINK_OBJECT);
		show_json_outcome(s, s->c->error);
		if (s->c->injected)
			k->ops->uint(k, "injected", 1);
		k->ops->end(k);
	}
	if (s->r->asked) {
		k->ops->begin(k, "kernel", SINK_OBJECT);
		show_json_outcome(s, s->r->trial.error);
		k->ops->end(k);
	} else {
		k->ops->symbol(k, "not_asked", s->r->not_asked);
	}
	k->ops->symbol(k, "verdict", verdict_words[s->r->verdict]);
	if (s->r->verdict == CHECK_BLOCKED) {
		struct buf words = { 0 };

		refusal_gate_words(&words, s->r->trial.error);
		k->ops->symbol(k, "blocked", buf_str(&words));
		buf_free(&words);
	}
	if (s->r->open)
		k->ops->symbol(k, "perhaps", s->r->open->name);
	showing_end(s->out);
}
