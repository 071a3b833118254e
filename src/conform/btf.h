/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Types of a kernel or an object file, from BTF. */
#pragma once

#include "conform/api_desc.h"

#define BTF_KERNEL "/sys/kernel/btf/vmlinux"

/*
 * Read BTF, raw or from an ELF file, into out: the structures named in known, and the enums
 * that share a name with it; everything if known is NULL.  The caller sets out->file and
 * source.  Return false after a warn(): it cannot be read, or this build lacks libbpf.
 */
bool btf_read(const char *path, const struct api_desc *known, struct api_desc *out);
