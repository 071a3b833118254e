// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/host/mounts.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stddef.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/host/proc.h"
#include "core/host/sysfile.h"
#include "core/lib/die.h"

#define MOUNT_PROC "; as root run 'mount -t proc proc /proc'"

const char *mounts_proc_missing(void)
{
	if (!proc_has("/proc"))
		return "/proc is not mounted" MOUNT_PROC;
	if (!proc_is_ours())
		return "/proc is that of another PID namespace" MOUNT_PROC;
	return NULL;
}

const char *mounts_sys_missing(void)
{
	struct statfs fs;

	return !statfs("/sys", &fs) && fs.f_type == SYSFS_MAGIC ? NULL :
	       "/sys is not mounted; as root run 'mount -t sysfs sysfs /sys'";
}

#define PMUS "/sys/bus/event_source/devices"
#define HIDDEN(dir) { dir, dir " is hidden by another file system; as root run 'umount " dir "'" }

const char *mounts_pmus_missing(void)
{
	static const struct { const char *name, *hidden; } dirs[] = {
		HIDDEN("/sys/bus"), HIDDEN("/sys/bus/event_source"), HIDDEN(PMUS),
		HIDDEN("/sys/devices"), HIDDEN(PMUS "/software"),
	};
	const char *why = mounts_sys_missing();
	bool empty;
	DIR *d;

	for (size_t i = 0; !why && i < sizeof(dirs) / sizeof(*dirs); i++)
		if (!access(dirs[i].name, F_OK) && sysfile_hidden(dirs[i].name, SYSFS_MAGIC))
			why = dirs[i].hidden;
	if (why)
		return why;
	d = sysfile_dir(AT_FDCWD, PMUS);
	empty = !d || !sysfile_next(d);
	if (d)
		closedir(d);
	return empty ? PMUS ", which lists the PMUs, is missing or empty" : NULL;
}

void mounts_warn(void)
{
	const char *const missing[] = { mounts_proc_missing(), mounts_sys_missing() };

	for (size_t i = 0; i < sizeof(missing) / sizeof(*missing); i++)
		if (missing[i])
			warn("%s", missing[i]);
}

void mounts_warn_facts(void)
{
	mounts_warn();
	if (!mounts_proc_missing() && access("/proc/sys/kernel", F_OK))
		warn("/proc/sys is hidden, as by the option subset=pid" MOUNT_PROC);
}
