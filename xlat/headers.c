// SPDX-License-Identifier: LGPL-2.1-or-later
/* The interface as the system's headers describe it; check.awk compares the tables with it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>

#include <linux/perf_event.h>
#include <linux/hw_breakpoint.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/mman.h>

#if __has_include(<asm/perf_regs.h>)
#include <asm/perf_regs.h>
#endif
#if __has_include(<linux/close_range.h>)
#include <linux/close_range.h>
#endif
#if __has_include(<linux/sched.h>)
#include <linux/sched.h>
#endif

/*
 * With 64-bit file offsets only, the C library gives these other values than the system
 * calls use.
 */
#undef O_LARGEFILE
#undef F_GETLK
#undef F_SETLK
#undef F_SETLKW
#undef F_GETLK64
#undef F_SETLK64
#undef F_SETLKW64
