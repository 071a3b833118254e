/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The names in the lines of a dump. */
#pragma once

#include "core/abi/call.h"
#include "formats/json/json_scan.h"

struct reader_names;

struct reader_names *reader_names_new(uint32_t page_size);
void reader_names_free(struct reader_names *n);

/* Add a line of kind "name"; return false if it is invalid. */
bool reader_names_add(struct reader_names *n, struct json_value *o);

/* Read the members id and type of a program of that name; return false if one is invalid. */
bool reader_program(struct json_value *o, const char *name, struct bpf_program *p);

const struct names *reader_names_hooks(const struct reader_names *n);
