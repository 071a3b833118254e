/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The code of a 32-bit program that ends with exit status COMPAT_STATUS.  COMPAT_MACHINE, its
 * e_machine, is not defined for processors that run none, or for which nobody wrote it.
 */
#pragma once

#include <elf.h>
#include <stdint.h>

enum { COMPAT_STATUS = 7 };

#if defined(__x86_64__)
/* mov $__NR_exit, %eax; mov $COMPAT_STATUS, %ebx; int $0x80 */
static const uint8_t compat_code[] = { 0xb8, 1, 0, 0, 0, 0xbb, COMPAT_STATUS, 0, 0, 0, 0xcd, 0x80 };
#define COMPAT_MACHINE EM_386
#define COMPAT_FLAGS 0
#elif defined(__aarch64__) && defined(__AARCH64EL__)
/* mov r0, #COMPAT_STATUS; mov r7, #__NR_exit; svc #0 */
static const uint8_t compat_code[] = {
	COMPAT_STATUS, 0, 0xa0, 0xe3, 1, 0x70, 0xa0, 0xe3, 0, 0, 0, 0xef,
};
#define COMPAT_MACHINE EM_ARM
#define COMPAT_FLAGS EF_ARM_EABI_VER5
#endif
