// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The first process of a kernel under test: mounts what programs expect, runs
 * /commands with sh, all output to a serial port of its own, and powers off.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static void mounted(const char *type, const char *where)
{
	mkdir(where, 0755);
	if (mount(type, where, type, 0, NULL))
		perror(where);
}

/* Write to the port that the kernel's command line names (results=PORT). */
static void use_port(void)
{
	const char *port = getenv("results");
	int fd = open(port ? port : "/dev/ttyS1", O_RDWR | O_NOCTTY);
	struct termios t;

	if (fd < 0 || tcgetattr(fd, &t)) {
		perror(port);
		return;
	}
	cfmakeraw(&t);
	tcsetattr(fd, TCSANOW, &t);
	dup2(fd, 1);
	dup2(fd, 2);
	close(fd);
}

static void link_standard_files(void)
{
	static const char *const names[] = { "stdin", "stdout", "stderr" };
	char from[24], to[24];

	if (symlink("/proc/self/fd", "/dev/fd"))
		perror("/dev/fd");
	for (int i = 0; i < 3; i++) {
		snprintf(from, sizeof(from), "/proc/self/fd/%d", i);
		snprintf(to, sizeof(to), "/dev/%s", names[i]);
		if (symlink(from, to))
			perror(to);
	}
}

int main(void)
{
	int null;

	mounted("devtmpfs", "/dev");
	mounted("proc", "/proc");
	mounted("sysfs", "/sys");
	mounted("tracefs", "/sys/kernel/tracing");
	mounted("securityfs", "/sys/kernel/security");
	mounted("cgroup2", "/sys/fs/cgroup");
	mounted("tmpfs", "/tmp");
	mounted("tmpfs", "/run");
	mounted("devpts", "/dev/pts");
	mounted("tmpfs", "/dev/shm");
	link_standard_files();
	null = open("/dev/null", O_RDONLY);
	dup2(null, 0);
	use_port();
	setenv("PATH", "/bin:/usr/bin:/sbin:/usr/sbin", 1);
	setenv("HOME", "/", 1);
	if (!fork()) {
		execl("/bin/sh", "sh", "/commands", NULL);
		perror("/bin/sh");
		_exit(127);
	}
	/* whatever loses its parent becomes ours */
	while (wait(NULL) > 0)
		;
	tcdrain(1);
	reboot(RB_POWER_OFF);
	return 1;
}
