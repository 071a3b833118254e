/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Descriptors passed through sockets: SCM_RIGHTS (unix(7), cmsg(3)). */
#pragma once

#include "core/abi/args.h"

enum { CALL_MAX_PASSED = 253 };	/* SCM_MAX_FD of the kernel */

/*
 * Read the descriptors in the message of a sendmsg (AT_SYSCALL_ENTER) or recvmsg
 * (AT_SYSCALL_EXIT) into fds; return their number, at most CALL_MAX_PASSED.
 */
size_t call_passed_fds(const struct call *c, enum call_phase phase,
		       int fds[CALL_MAX_PASSED]);
