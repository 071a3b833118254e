/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The members type, size and config of an attr. */
#pragma once

#include "core/abi/layout.h"

/* The kernel refuses an attr larger than a page; 4 KiB is the smallest page. */
enum { ATTR_MAX_SIZE = 4096 };

/* Return the member of that name, or NULL. */
const struct field *attr_member(const char *name, size_t len);

/* Copy config, config1 and so on to ATTR_CONFIGS words: 0 for what len does not hold. */
void attr_get_configs(const uint8_t *attr, size_t len, uint64_t *configs);

/* Write the type: a generic one by its constant, a dynamic PMU by its name in sysfs. */
void attr_emit_type(const struct walk *w, const struct field *f, uint32_t type,
		    struct sink *s);

/* Return the constants that a config of that type may be, or NULL. */
const struct xlat *attr_config_values(uint64_t type);

/* Write the config as the type of w's attr defines it (perf_event_open(2)). */
void attr_emit_config(const struct walk *w, const struct field *f, uint64_t config,
		      struct sink *s);

/* Write the size: its PERF_ATTR_SIZE_ constant, or what is wrong with it. */
void attr_emit_size(const struct field *f, uint64_t size, struct sink *s);
