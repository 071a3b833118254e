/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes countable things happen once it is told to: prints "PID ADDRESS", waits
 * for a byte on standard input, touches PAGES new pages one by one, writes the
 * word at ADDRESS WRITES times, and starts CHILDREN programs (/bin/true), one
 * after the other.
 *
 * usage: counted PAGES WRITES CHILDREN
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile uint64_t word __attribute__((aligned(8)));

static void touch(size_t pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *at;

	if (!pages)
		return;
	at = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		  -1, 0);
	if (at == MAP_FAILED) {
		perror("counted: mmap");
		exit(1);
	}
	madvise((void *)at, pages * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		at[i * page] = 1;
}

static void start(const char *program)
{
	pid_t pid = fork();

	if (!pid) {
		execl(program, program, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	size_t pages, writes, children;
	char byte;

	if (argc != 4) {
		fprintf(stderr, "usage: counted PAGES WRITES CHILDREN\n");
		return 2;
	}
	pages = strtoul(argv[1], NULL, 10);
	writes = strtoul(argv[2], NULL, 10);
	children = strtoul(argv[3], NULL, 10);
	printf("%d %#lx\n", (int)getpid(), (unsigned long)&word);
	fflush(stdout);
	if (read(STDIN_FILENO, &byte, 1) < 0)
		return 1;
	touch(pages);
	for (size_t i = 0; i < writes; i++)
		word = i;
	while (children--)
		start("/bin/true");
	return 0;
}
