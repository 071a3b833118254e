/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perf_event_attr.type and .config, whose meaning depends on each other. */
#ifndef PEVTRACE_ABI_CONFIG_H
#define PEVTRACE_ABI_CONFIG_H

#include "abi/layout.h"

/* The type: one of the generic ones, or a dynamic PMU by its sysfs name. */
void config_emit_type(const struct walk *w, const struct field *f,
		      uint32_t type, struct sink *s);

/* The config of w's attr (uapi/linux/perf_event.h, perf_event_open(2)). */
void config_emit(const struct walk *w, const struct field *f, uint64_t config,
		 struct sink *s);

#endif
