/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A tree of files made up for a test, such as a sysfs. Include after cmocka.h. */
#ifndef PEVTRACE_TESTS_TREE_H
#define PEVTRACE_TESTS_TREE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TREE_PATH = 256 };

/* Write the path of a new file or directory for mkstemp() or mkdtemp(), where those are. */
static inline void tree_template(char *path, const char *name)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(path, TREE_PATH, "%s/pevtrace-%s-XXXXXX", tmp && *tmp ? tmp : "/tmp", name);
}

/* Create the directory of a tree and write its path. */
static inline void tree_new(char *root, const char *name)
{
	tree_template(root, name);
	assert_non_null(mkdtemp(root));
}

/* Writes root/path, with the directories that lead to it. */
static inline void tree_put(const char *root, const char *path, const char *text)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(full, 0700);
		*p = '/';
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

#define DEVICES "bus/event_source/devices/"

/* The PMU of a CPU, in a sysfs. */
static inline void tree_put_cpu(const char *root)
{
	tree_put(root, DEVICES "cpu/type", "4\n");
	tree_put(root, DEVICES "cpu/format/event", "config:0-7,32-35\n");
	tree_put(root, DEVICES "cpu/format/umask", "config:8-15\n");
	tree_put(root, DEVICES "cpu/format/edge", "config:18\n");
	tree_put(root, DEVICES "cpu/format/ldlat", "config1:0-15\n");
	tree_put(root, DEVICES "cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
}

/* Removes it all, but nothing that is mounted there. rm's status. */
static inline int tree_remove(const char *root)
{
	char command[TREE_PATH + 64];

	snprintf(command, sizeof(command), "rm -r --one-file-system %s", root);
	return system(command);
}

#endif
