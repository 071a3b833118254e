// SPDX-License-Identifier: LGPL-2.1-or-later
/* Writing the members of a struct to a sink. */

#include <stdio.h>
#include <string.h>

#include "core/abi/bpf.h"
#include "core/abi/strings.h"
#include "core/abi/tables.h"
#include "core/lib/buf.h"

/* Unknown bytes are shown in runs of at most RUN_MAX, separated by RUN_GAP zeros. */
#define RUN_MAX 64
#define RUN_GAP 8

static int64_t sign_extend(uint64_t v, const struct field *f)
{
	unsigned int bits = f->nbits ? f->nbits : 8u * f->width;

	return bits == 64 ? (int64_t)v : (int64_t)(v << (64 - bits)) >> (64 - bits);
}

/* Append the names in a mask without their first skip letters, and bits without a name. */
static void add_flag_names(const struct xlat *x, size_t skip, uint64_t v, struct buf *out)
{
	const struct xlat_entry *e;
	size_t at = 0;

	while ((e = xlat_next_flag(x, &v, &at)))
		buf_addf(out, "%s%s", out->len ? "|" : "", e->name + skip);
	if (v || !out->len)
		buf_addf(out, "%s0x%llx", out->len ? "|" : "", (unsigned long long)v);
}

/* Write a mask of perf registers as a number, with a note of their names. */
static void field_emit_regs(const struct walk *w, const struct field *f, uint64_t v,
			    struct sink *s)
{
	const struct xlat *regs = w->arch ? w->arch->regs : f->xlat;
	struct buf names = { 0 };

	sink_hex(s, f->name, v);
	if (!v || !regs)
		return;
	add_flag_names(regs, strlen(regs->prefix), v, &names);
	sink_note(s, "registers", buf_str(&names));
	buf_free(&names);
}

/* Write a number with a note of its meaning in the table. */
static void field_emit_words(const struct field *f, uint64_t v, struct sink *s)
{
	const struct xlat_entry *e = xlat_find(f->xlat, v);

	sink_uint(s, f->name, v);
	if (e)
		sink_note(s, "words", e->meaning);
}

static void field_emit_string(const struct walk *w, const struct field *f,
			      uint64_t v, struct sink *s)
{
	if (w->call)
		call_emit_path(w->call, w->phase, f->name, v, s);
	else if (w->string)
		sink_string(s, f->name, w->string, strlen(w->string), false);
	else
		sink_addr(s, f->name, v);
}

static void field_emit_fd(const struct walk *w, const struct field *f, int64_t fd,
			  struct sink *s)
{
	const char *label = NULL;

	if (w->call && w->names && w->names->fd)
		label = w->names->fd(w->names, w->call, fd);
	sink_fd(s, f->name, fd, label);
}

static void field_emit_pids(const struct walk *w, const struct field *f, uint64_t addr,
			    struct sink *s)
{
	uint64_t n = field_get(f + 1, w->bytes, w->len);
	const uint8_t *p = NULL;
	size_t len = 0;

	if (w->call)
		p = call_bytes(w->call, AT_SYSCALL_ENTER, addr, SIZE_MAX, &len);
	if (len < 4 || len / 4 < n) {
		call_emit_unreadable(f->name, addr, s);
		return;
	}
	sink_begin(s, f->name, SINK_ARRAY);
	for (uint64_t i = 0; i < n; i++)
		sink_sint(s, NULL, (int32_t)load_uint(p + 4 * i, 4));
	sink_end(s);
}

/* Note the name of the PMU, if names can be asked for it. */
static void note_pmu(const struct walk *w, uint32_t type, struct sink *s)
{
	const char *pmu;

	if (!w->names || !w->names->pmu)
		return;
	pmu = w->names->pmu(w->names, type);
	sink_note(s, "pmu", pmu ? pmu : "no PMU of this number in sysfs");
}

/* Write the type of an attr: a generic one by its constant, a PMU by its name in sysfs. */
static void field_emit_type(const struct walk *w, const struct field *f, uint32_t type,
			    struct sink *s)
{
	if (xlat_name(f->xlat, type)) {
		sink_enum(s, f->name, f->xlat, type);
		return;
	}
	sink_uint(s, f->name, type);
	note_pmu(w, type, s);
}

/* Write the config of a generic event; its upper half may name the PMU (since 5.13). */
static void emit_generic(const struct walk *w, const struct field *f, bool cache,
			 uint64_t config, struct sink *s)
{
	uint32_t type = (uint32_t)(config >> PERF_PMU_TYPE_SHIFT);
	struct sink_part parts[5];
	size_t n = 0;

	if (!type && !cache) {
		sink_enum(s, f->name, &xlat_perf_hw_id, config);
		return;
	}
	if (type)
		parts[n++] = (struct sink_part){ NULL, type, PERF_PMU_TYPE_SHIFT };
	if (!cache) {
		parts[n++] = (struct sink_part){ &xlat_perf_hw_id, config & PERF_HW_EVENT_MASK, 0 };
	} else {
		if (config >> 24 & 0xff)
			parts[n++] = (struct sink_part){ NULL, config >> 24 & 0xff, 24 };
		parts[n++] = (struct sink_part){ &xlat_perf_hw_cache_op_result_id,
						 config >> 16 & 0xff, 16 };
		parts[n++] = (struct sink_part){ &xlat_perf_hw_cache_op_id,
						 config >> 8 & 0xff, 8 };
		parts[n++] = (struct sink_part){ &xlat_perf_hw_cache_id, config & 0xff, 0 };
	}
	sink_packed(s, f->name, config, parts, n);
	if (type)
		note_pmu(w, type, s);
}

/* Write the config as the type of w's attr defines it (perf_event_open(2)). */
static void field_emit_config(const struct walk *w, const struct field *f, uint64_t config,
			      struct sink *s)
{
	uint32_t type = (uint32_t)layout_get(w->layout, ATTR_TYPE, w->bytes, w->len);
	uint64_t configs[ATTR_CONFIGS];
	const char *event = NULL;

	switch (type) {
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
		emit_generic(w, f, type == PERF_TYPE_HW_CACHE, config, s);
		break;
	case PERF_TYPE_SOFTWARE:
		sink_enum(s, f->name, &xlat_perf_sw_ids, config);
		break;
	case PERF_TYPE_TRACEPOINT:
		sink_uint(s, f->name, config);
		if (w->names && w->names->tracepoint)
			event = w->names->tracepoint(w->names, config);
		break;
	case PERF_TYPE_BREAKPOINT:
		sink_hex(s, f->name, config);
		break;
	default:
		sink_hex(s, f->name, config);
		attr_get_configs(w->bytes, w->len, configs);
		/* by format/ in sysfs: "cpu/event=0x3c/" */
		if (w->names && w->names->terms)
			event = w->names->terms(w->names, type, configs, ATTR_CONFIGS);
	}
	if (event)
		sink_note(s, "event", event);
}

/* Write the size of an attr: its PERF_ATTR_SIZE_ constant, or what is wrong with it. */
static void field_emit_size(const struct field *f, uint64_t size, struct sink *s)
{
	if (xlat_name(f->xlat, size)) {
		sink_enum(s, f->name, f->xlat, size);
		return;
	}
	sink_uint(s, f->name, size);
	if (!size)
		sink_note(s, "words", "PERF_ATTR_SIZE_VER0 assumed");
	else if (size < PERF_ATTR_SIZE_VER0)
		sink_note(s, "words", "too small: 64 is the least");
	else if (size > ATTR_MAX_SIZE)
		sink_note(s, "words", "too large: more than a page");
	else if (size > layout_perf_event_attr.size)
		sink_note(s, "words", "larger than any known version");
	else
		sink_note(s, "words", "between two versions");
}

static void field_emit(const struct walk *w, const struct field *f, uint64_t v,
		       struct sink *s)
{
	switch (f->kind) {
	case FIELD_UINT:
	case FIELD_BOOL:
		sink_uint(s, f->name, v);
		break;
	case FIELD_SINT:
	case FIELD_PID:
		sink_sint(s, f->name, sign_extend(v, f));
		break;
	case FIELD_HEX:
	case FIELD_CONFIGX:
	case FIELD_RESERVED:
		sink_hex(s, f->name, v);
		break;
	case FIELD_ADDR:
		sink_addr(s, f->name, v);
		break;
	case FIELD_ENUM:
		sink_enum(s, f->name, f->xlat, f->xlat->is_signed ?
			  (uint64_t)sign_extend(v, f) : v);
		break;
	case FIELD_FLAGS:
		sink_flags(s, f->name, f->xlat, v);
		break;
	case FIELD_WORDS:
		field_emit_words(f, v, s);
		break;
	case FIELD_REGS:
		field_emit_regs(w, f, v, s);
		break;
	case FIELD_STRING:
		field_emit_string(w, f, v, s);
		break;
	case FIELD_FD:
		field_emit_fd(w, f, sign_extend(v, f), s);
		break;
	case FIELD_PROGRAM:
		field_emit_fd(w, f, sign_extend(v, f), s);
		if (w->call)
			bpf_note_program(w->call, w->names, sign_extend(v, f), s);
		break;
	case FIELD_PIDS:
		field_emit_pids(w, f, v, s);
		break;
	case FIELD_SIGNAL:
		if (v > INT32_MAX)
			sink_uint(s, f->name, v);
		else
			emit_signal(f->name, (int)v, s);
		break;
	case FIELD_PMU:
		field_emit_type(w, f, (uint32_t)v, s);
		break;
	case FIELD_CONFIG:
		field_emit_config(w, f, v, s);
		break;
	case FIELD_SIZE:
		field_emit_size(f, v, s);
		break;
	}
}

void layout_emit_member(const struct walk *w, unsigned int index, struct sink *s)
{
	const struct field *f = &w->layout->fields[index];

	field_emit(w, f, field_get(f, w->bytes, w->len), s);
}

/* "ignored: needs sample_type&PERF_SAMPLE_BRANCH_STACK" */
static void note_ignored(const struct walk *w, const struct field *of, uint64_t v,
			 struct sink *s)
{
	const struct cond *c = &of->needs;
	static const char *const ops[] = {
		[COND_EQ] = "=", [COND_NE] = "!=", [COND_MASK] = "&",
	};
	const struct field *f = &w->layout->fields[c->field];
	const char *name = f->xlat ? xlat_name(f->xlat, c->value) : NULL;

	if (of->kind == FIELD_REGS && w->arch && v & w->arch->regs_extended)
		/* perf_event_open() checks these bits whatever sample_type says */
		sink_note(s, "checked", "not ignored: extended registers require "
			  "a PMU that has them");
	else if (w->call && w->call->failed)
		return; /* a kernel that does not know the member refuses it instead */
	else if (c->op == COND_PMU)
		sink_notef(s, "ignored", "ignored: needs the %s PMU", c->pmu);
	else if (name)
		sink_notef(s, "ignored", "ignored: needs %s%s%s", f->name,
			   ops[c->op], name);
	else
		sink_notef(s, "ignored", "ignored: needs %s%s%llu", f->name,
			   ops[c->op], (unsigned long long)c->value);
}

/* "was PERF_SAMPLE_IP|PERF_SAMPLE_TID" */
static void note_was(const struct walk *w, const struct field *f, struct sink *s)
{
	uint64_t v = field_get(f, w->before, w->before_len);
	const struct xlat *x = f->xlat;
	struct buf was = { 0 };
	bool decimal;

	if (f->kind == FIELD_CONFIG)
		x = attr_config_values(layout_get(w->layout, ATTR_TYPE, w->before,
						  w->before_len));
	if (f->kind == FIELD_FLAGS) {
		add_flag_names(f->xlat, 0, v, &was);
	} else if (f->kind != FIELD_WORDS && x && xlat_name(x, v)) {
		buf_adds(&was, xlat_name(x, v));
	} else if (f->kind == FIELD_STRING) {
		buf_adds(&was, "another");
	} else if (f->kind == FIELD_SINT || f->kind == FIELD_ENUM) {
		buf_addf(&was, "%lld", (long long)sign_extend(v, f));
	} else {
		decimal = f->kind == FIELD_UINT || f->kind == FIELD_BOOL ||
			  f->kind == FIELD_WORDS || f->kind == FIELD_SIZE || f->kind == FIELD_PMU;
		buf_addf(&was, decimal ? "%llu" : "0x%llx", (unsigned long long)v);
	}
	sink_notef(s, "was", "was %s", buf_str(&was));
	buf_free(&was);
}

void layout_emit(const struct walk *w, struct sink *s)
{
	const struct field *f;
	size_t at = 0;

	while ((f = layout_next(w, &at))) {
		uint64_t v = field_get(f, w->bytes, w->len);
		bool marked = w->before && field_get(f, w->before, w->before_len) != v;

		if (!v && !f->always && !marked &&
		    !(s->full && f->kind != FIELD_RESERVED))
			continue;
		field_emit(w, f, v, s);
		if (marked)
			note_was(w, f, s);
		if (v && !cond_holds(w, &f->needs))
			note_ignored(w, f, v, s);
	}
}

/*
 * Find the next run of bytes that are not zero, with short gaps of zeros, from *at to
 * *end.  Return false when only zeros follow.
 */
static bool find_run(const uint8_t *bytes, size_t len, size_t *at, size_t *end)
{
	while (*at < len && !bytes[*at])
		++*at;
	*end = *at;
	for (size_t i = *at; i < len && i - *end < RUN_GAP && i - *at < RUN_MAX; i++)
		if (bytes[i])
			*end = i + 1;
	return *at < len;
}

void layout_emit_tail(const struct walk *w, struct sink *s)
{
	char hex[2 * RUN_MAX + 3] = "0x";
	size_t at = w->layout->size, end;

	if (w->len <= at)
		return;
	if (!find_run(w->bytes, w->len, &at, &end)) {
		if (s->full)
			sink_notef(s, "tail", "bytes %u to %zu are zero", w->layout->size,
				   w->len - 1);
		return;
	}
	sink_begin(s, "unknown", SINK_ARRAY);
	for (; find_run(w->bytes, w->len, &at, &end); at = end) {
		sink_begin(s, NULL, SINK_OBJECT);
		sink_uint(s, "offset", at);
		for (size_t i = at; i < end; i++)
			snprintf(hex + 2 + 2 * (i - at), 3, "%02x", w->bytes[i]);
		sink_symbol(s, "bytes", hex);
		sink_end(s);
	}
	sink_end(s);
}
