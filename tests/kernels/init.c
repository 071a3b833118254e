// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The first process of a kernel under test: mounts what programs expect, runs
 * /commands with sh, all output to the second serial port, and powers off.
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

static void use_port(void)
{
	int fd = open("/dev/ttyS1", O_RDWR | O_NOCTTY);
	struct termios t;

	if (fd < 0 || tcgetattr(fd, &t)) {
		perror("/dev/ttyS1");
		return;
	}
	cfmakeraw(&t);
	tcsetattr(fd, TCSANOW, &t);
	dup2(fd, 1);
	dup2(fd, 2);
	close(fd);
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
	null = open("/dev/null", O_RDONLY);
	dup2(null, 0);
	use_port();
	setenv("PATH", "/bin", 1);
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
