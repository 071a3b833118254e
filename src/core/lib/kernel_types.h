/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The types of the running kernel (BTF), read without building tables of all of them, which
 * takes libbpf longer than everything else of loading a BPF program.
 *
 * Format: Documentation/bpf/btf.rst.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_types;

/* Return NULL if the kernel has none.  They are looked through as far as calls below require. */
struct kernel_types *kernel_types_read(void);
void kernel_types_free(struct kernel_types *t);

/*
 * Write BTF with the n structures of these names, which are sorted here, into a file: members
 * are at their offsets, those of other structures have no members, pointers are to void.  Of
 * structures with one name, the first is that of the kernel's own headers.  libbpf finds the same
 * offsets there (btf_custom_path).  Return false if it cannot be written, or if a type is of
 * an unknown kind.
 */
bool kernel_types_subset(struct kernel_types *t, const char **names, size_t n, int fd);

/* Return the id of a function, and the bytes of its result; 0: the kernel has none of that name. */
uint32_t kernel_types_function(struct kernel_types *t, const char *name, uint32_t *result);

/* Call hook for each function of the kernel whose only argument is such a pointer. */
void kernel_types_functions(struct kernel_types *t, const char *argument,
			    void (*hook)(void *ctx, const char *name, uint32_t id), void *ctx);
