// SPDX-License-Identifier: LGPL-2.1-or-later
#include "experiment/turns.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

bool turn_pass(int link)
{
	return send(link, "", 1, MSG_NOSIGNAL) == 1;
}

bool turn_wait(int link)
{
	char c;
	ssize_t n;

	while ((n = read(link, &c, 1)) < 0 && errno == EINTR)
		;
	return n == 1;
}
