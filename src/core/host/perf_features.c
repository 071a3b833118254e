// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/host/perf_features.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/host/pmu.h"
#include "core/host/proc.h"
#include "core/host/sysfile.h"
#include "xlat/constants.h"

enum { NAME_ALIGN = 64, BLOCKS_MOST = 1 << 16, MEM_TOPOLOGY_VERSION = 1 };

void perf_features_string(struct buf *b, const char *text)
{
	size_t len = strlen(text) + 1, size = (len + NAME_ALIGN - 1) / NAME_ALIGN * NAME_ALIGN;

	buf_add_u32(b, (uint32_t)size);
	buf_add(b, text, len);
	for (; len < size; len++)
		buf_addc(b, '\0');
}

/* Return whether the line is that of the key; set *value to what follows the colon. */
static bool features_value(const char *line, const char *key, const char **value)
{
	size_t len = strlen(key);

	if (strncmp(line, key, len))
		return false;
	len += strspn(line + len, " \t");
	if (line[len] != ':')
		return false;
	*value = line + len + 1 + strspn(line + len + 1, " \t");
	return true;
}

void perf_features_cpu(char desc[PERF_CPU_TEXT], char id[PERF_CPU_TEXT])
{
	char vendor[64] = "";
	struct lines l = lines_of("/proc/cpuinfo");
	int sys = open("/sys/devices/system/cpu/cpu0", O_PATH | O_DIRECTORY | O_CLOEXEC);
	unsigned int family = 0, model = 0, stepping = 0;
	const char *value;

	/* files of other machines may have neither */
	strcpy(desc, "unknown");
	while (lines_next(&l) && *l.text) {
		if (features_value(l.text, "model name", &value))
			snprintf(desc, PERF_CPU_TEXT, "%s", value);
		else if (features_value(l.text, "vendor_id", &value))
			snprintf(vendor, sizeof(vendor), "%s", value);
		else if (features_value(l.text, "cpu family", &value))
			family = (unsigned int)strtoul(value, NULL, 10);
		else if (features_value(l.text, "model", &value))
			model = (unsigned int)strtoul(value, NULL, 10);
		else if (features_value(l.text, "stepping", &value))
			stepping = (unsigned int)strtoul(value, NULL, 10);
	}
	lines_end(&l);
	if (*vendor)
		snprintf(id, PERF_CPU_TEXT, "%s,%u,%u,%u", vendor, family, model, stepping);
	else if (sys < 0 || !sysfile_read(sys, "regs/identification/midr_el1", id, PERF_CPU_TEXT))
		strcpy(id, "unknown");
	if (sys >= 0)
		close(sys);
}

static void features_read_cpu(struct perf_features *f)
{
	char desc[PERF_CPU_TEXT], id[PERF_CPU_TEXT];

	perf_features_cpu(desc, id);
	/* perf data convert --to-json requires both */
	perf_features_string(&f->sections[HEADER_CPUDESC], desc);
	perf_features_string(&f->sections[HEADER_CPUID], id);
}

/* Return the number in kB of the line of that key in a file such as /proc/meminfo, or 0. */
static uint64_t features_memory(const char *path, const char *key)
{
	struct lines l = lines_of(path);
	unsigned long long kb = 0;

	while (!kb && lines_next(&l)) {
		const char *at = strstr(l.text, key);

		if (at)
			sscanf(at + strlen(key), " %llu", &kb);
	}
	lines_end(&l);
	return kb;
}

/* Append the set of each node's blocks of memory: their number, and bits of 64-bit words. */
static void features_read_blocks(struct perf_features *f, int dir, const struct cpus *nodes)
{
	struct buf *b = &f->sections[HEADER_MEM_TOPOLOGY];
	char text[32];
	const char *entry;
	unsigned int block;

	if (!nodes->n || !sysfile_read(AT_FDCWD, "/sys/devices/system/memory/block_size_bytes",
				       text, sizeof(text)))
		return;
	buf_add_u64(b, MEM_TOPOLOGY_VERSION);
	buf_add_u64(b, strtoull(text, NULL, 16));
	buf_add_u64(b, nodes->n);
	for (size_t i = 0; i < nodes->n; i++) {
		uint64_t most = 0, words[BLOCKS_MOST / 64] = { 0 };
		DIR *d;

		snprintf(text, sizeof(text), "node%d", nodes->of[i]);
		d = sysfile_dir(dir, text);
		while (d && (entry = sysfile_next(d))) {
			if (sscanf(entry, "memory%u", &block) != 1 || block >= BLOCKS_MOST)
				continue;
			words[block / 64] |= 1ULL << block % 64;
			most = block >= most ? block + 1 : most;
		}
		if (d)
			closedir(d);
		buf_add_u64(b, (uint64_t)nodes->of[i]);
		buf_add_u64(b, most);
		buf_add_u64(b, most);
		buf_add(b, words, (most + 63) / 64 * 8);
	}
}

static void features_read_nodes(struct perf_features *f)
{
	int dir = open("/sys/devices/system/node", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint64_t total = features_memory("/proc/meminfo", "MemTotal:");
	struct buf *b = &f->sections[HEADER_NUMA_TOPOLOGY];
	struct cpus nodes = { NULL, 0 };
	char text[4096], path[80];

	if (total)
		buf_add_u64(&f->sections[HEADER_TOTAL_MEM], total);
	if (dir >= 0 && sysfile_read(dir, "online", text, sizeof(text)) && cpus_parse(&nodes, text))
		buf_add_u32(b, (uint32_t)nodes.n);
	for (size_t i = 0; i < nodes.n; i++) {
		snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/meminfo", nodes.of[i]);
		buf_add_u32(b, (uint32_t)nodes.of[i]);
		buf_add_u64(b, features_memory(path, "MemTotal:"));
		buf_add_u64(b, features_memory(path, "MemFree:"));
		snprintf(path, sizeof(path), "node%d/cpulist", nodes.of[i]);
		perf_features_string(b, sysfile_read(dir, path, text, sizeof(text)) ? text : "");
	}
	features_read_blocks(f, dir, &nodes);
	cpus_free(&nodes);
	if (dir >= 0)
		close(dir);
}

/* Append the number of different lists of CPUs in files of that name, and the lists. */
static uint32_t features_siblings(struct buf *b, int dir, const struct cpus *online,
				  const char *name)
{
	char text[4096], path[64];
	struct buf lists = { 0 };
	uint32_t n = 0;

	for (size_t i = 0; i < online->n; i++) {
		bool known = false;

		snprintf(path, sizeof(path), "cpu%d/topology/%s", online->of[i], name);
		if (!sysfile_read(dir, path, text, sizeof(text)))
			continue;
		for (const char *at = lists.data; n && at < lists.data + lists.len;
		     at += strlen(at) + 1)
			known |= !strcmp(at, text);
		if (known)
			continue;
		buf_add(&lists, text, strlen(text) + 1);
		n++;
	}
	buf_add_u32(b, n);
	for (const char *at = lists.data; n && at < lists.data + lists.len; at += strlen(at) + 1)
		perf_features_string(b, at);
	buf_free(&lists);
	return n;
}

static void features_id(struct buf *b, int dir, long cpu, const char *name)
{
	char path[64];
	int64_t id;

	snprintf(path, sizeof(path), "cpu%ld/topology/%s", cpu, name);
	buf_add_u32(b, sysfile_number(dir, path, &id) ? (uint32_t)id : UINT32_MAX);
}

static void features_read_topology(struct perf_features *f)
{
	int dir = open("/sys/devices/system/cpu", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct buf *b = &f->sections[HEADER_CPU_TOPOLOGY];
	long all = sysconf(_SC_NPROCESSORS_CONF);
	struct cpus online = { NULL, 0 };

	if (dir < 0)
		return;
	cpus_online(&online);
	/* these names are older than package_cpus_list and core_cpus_list */
	if (features_siblings(b, dir, &online, "core_siblings_list")) {
		features_siblings(b, dir, &online, "thread_siblings_list");
		for (long i = 0; i < all; i++) {
			features_id(b, dir, i, "core_id");
			features_id(b, dir, i, "physical_package_id");
		}
		if (!faccessat(dir, "cpu0/topology/die_cpus_list", F_OK, 0)) {
			features_siblings(b, dir, &online, "die_cpus_list");
			for (long i = 0; i < all; i++)
				features_id(b, dir, i, "die_id");
		}
	} else {
		buf_reset(b);
	}
	cpus_free(&online);
	close(dir);
}

void perf_features_read(struct perf_features *f)
{
	char **words = proc_command(getpid(), SIZE_MAX);
	struct buf *b = &f->sections[HEADER_PMU_MAPPINGS];
	bool all;
	struct pmu *list = pmus_read("/sys", &all);
	uint32_t n = 0;

	features_read_cpu(f);
	features_read_nodes(f);
	features_read_topology(f);
	/* a list that may lack some would say that there are no others */
	for (const struct pmu *p = all ? list : NULL; p; p = p->next)
		n++;
	if (n)
		buf_add_u32(b, n);
	for (const struct pmu *p = n ? list : NULL; p; p = p->next) {
		buf_add_u32(b, p->type);
		perf_features_string(b, p->name);
	}
	pmus_free(list);
	n = 0;
	b = &f->sections[HEADER_CMDLINE];
	/* the command line of pevtrace, which the file has if there is no traced command */
	while (words[n])
		n++;
	if (n)
		buf_add_u32(b, n);
	for (uint32_t i = 0; i < n; i++)
		perf_features_string(b, words[i]);
	proc_command_free(words);
}

void perf_features_free(struct perf_features *f)
{
	for (size_t i = 0; i < PERF_FEATURES; i++)
		buf_free(&f->sections[i]);
}
