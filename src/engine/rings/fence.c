// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/rings/fence.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int fence_make(struct fence *f, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t room = (size + page - 1) / page * page;
	/* populated: an event that is already open may count page faults */
	void *p = mmap(NULL, room + page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	*f = (struct fence){ NULL, NULL };
	if (p == MAP_FAILED)
		return -errno;
	f->start = p;
	f->end = f->start + room;
	return mprotect(f->end, page, PROT_NONE) ? -errno : 0;
}

void fence_free(struct fence *f)
{
	if (f->start)
		munmap(f->start, (size_t)(f->end - f->start) + (size_t)sysconf(_SC_PAGESIZE));
}

uint8_t *fence_put(struct fence *f, const void *bytes, size_t len)
{
	size_t room = (size_t)(f->end - f->start);

	if (len > room)
		len = room;
	if (len)
		memcpy(f->end - len, bytes, len);
	return f->end - len;
}
