/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What BTF says of the interface: that of a kernel, or of an object file. */
#ifndef PEVTRACE_CONFORM_BTF_H
#define PEVTRACE_CONFORM_BTF_H

#include "conform/api_desc.h"

#define BTF_KERNEL "/sys/kernel/btf/vmlinux"

/*
 * Reads BTF, raw or out of an ELF file: enums that share a name with those in
 * known, and structures that known has, too; all, where known is NULL.
 * out->file and source are the caller's.  False after a warn(): it cannot be read,
 * or pevtrace was built without libbpf.
 */
bool btf_read(const char *path, const struct api_desc *known, struct api_desc *out);

#endif
