// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/host/facts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/host/rights.h"
#include "core/host/pmu.h"
#include "core/host/sysfile.h"
#include "core/lib/die.h"
#include "core/lib/scan_text.h"
#include "xlat/constants.h"

/* Since this release, cpu_clock and task_clock are PMUs, with these types. */
#define CLOCKS_SINCE KVER(6, 4, 0)
enum { CPU_CLOCK_TYPE = PERF_TYPE_MAX, TASK_CLOCK_TYPE };

/* Return a sysctl of perf; if it cannot be read, the default, and note that in unread. */
static uint64_t facts_sysctl(const char *name, uint64_t otherwise, enum rule_unread number,
			     unsigned int *unread)
{
	char path[128];
	int64_t v;

	snprintf(path, sizeof(path), "/proc/sys/kernel/perf_event_%s", name);
	if (sysfile_number(AT_FDCWD, path, &v))
		return (uint64_t)v;
	*unread |= number;
	return otherwise;
}

/* Return whether a file contains the word, between blanks or commas; unknown if it is empty. */
static enum fact file_has(const char *path, const char *word)
{
	char *line = NULL, *at, first[2];
	size_t len = strlen(word), cap = 0;
	bool found = false;
	FILE *f;

	if (!sysfile_read_kernel(path, first, sizeof(first)) || !*first)
		return FACT_UNKNOWN;
	f = fopen(path, "re");
	while (f && !found && getline(&line, &cap, f) > 0)
		for (at = line; !found && (at = strstr(at, word)); at += len)
			found = (at == line || strchr(" \t,", at[-1])) &&
				strchr(" \t,\n", at[len]);
	free(line);
	if (!f)
		return FACT_UNKNOWN;
	fclose(f);
	return fact_of(found);
}

/* The process --------------------------------------------------------------------- */

void facts_refresh(struct facts *f)
{
	struct rule_machine *m = &f->rules.machine;
	enum fact first = rights_user_ns_is_first();
	unsigned int no_mlock = 0;

	f->own_caps = rights_effective();
	m->caps = first == FACT_YES ? f->own_caps : 0;
	m->caps_unread = first == FACT_UNKNOWN ? f->own_caps : 0;
	m->unread &= UNREAD_CPUS;
	m->paranoid = (int32_t)facts_sysctl("paranoid", 2, UNREAD_PARANOID, &m->unread);
	m->max_sample_rate = facts_sysctl("max_sample_rate", 100000, UNREAD_SAMPLE_RATE, &m->unread);
	m->max_stack = facts_sysctl("max_stack", 127, UNREAD_STACK, &m->unread);
	f->mlock_kb = (int64_t)facts_sysctl("mlock_kb", (uint64_t)-1, 0, &no_mlock);
}

/* The machine --------------------------------------------------------------------- */

/* Return the release.  Debian's has no sublevel: 6.1.0-56 is "... Debian 6.1.192-2 (...)". */
static uint32_t kernel_release(const struct utsname *u)
{
	const char *debian = strstr(u->version, "Debian ");
	const char *plain = u->release;
	uint32_t release = 0;

	if (debian) {
		debian += strlen("Debian ");
		release = release_read(&debian);
	}
	return release ? release : release_read(&plain);
}

/* Return whether this process can have a mapping there. */
static bool is_user_page(uint64_t addr, size_t page)
{
	void *want = (void *)(uintptr_t)addr, *got;

	if ((uintptr_t)want != addr)
		return false;
	got = mmap(want, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (got == MAP_FAILED)
		return errno == EEXIST;
	munmap(got, page);
	return got == want;
}

/* Return the end of user addresses: the largest of the possible ones that has a page before it. */
static uint64_t user_end(const struct rule_machine *m)
{
	const uint64_t *end = m->arch->user_ends;

	while (end && *end && !is_user_page(*end - m->page_size, m->page_size))
		end++;
	return end ? *end : 0;
}

/* Return whether lockdown=confidentiality is set; unknown if securityfs is not mounted. */
static enum fact lockdown(void)
{
	char text[128];

	if (!sysfile_read_kernel("/sys/kernel/security/lockdown", text, sizeof(text)) || !*text)
		return FACT_UNKNOWN;
	return fact_of(strstr(text, "[confidentiality]"));
}

/*
 * Return whether SELinux is active, the only security module that checks perf events: then the
 * kernel has its file system.
 */
static enum fact facts_security(void)
{
	enum fact listed = file_has("/proc/filesystems", "selinuxfs");
	struct statfs fs;

	if (listed != FACT_UNKNOWN)
		return listed;
	/* the kernel makes a directory of sysfs to mount it on */
	return !statfs("/sys/fs", &fs) && fs.f_type == SYSFS_MAGIC ?
	       fact_of(!access("/sys/fs/selinux", F_OK)) : FACT_UNKNOWN;
}

/* Find the number of possible CPUs: the last one of a list like "0-3,8", plus one. */
static void find_cpus(struct rule_machine *m)
{
	uint64_t first, last = 0;
	char text[256];
	const char *at = text;
	bool read = sysfile_read_kernel("/sys/devices/system/cpu/possible", text, sizeof(text));

	while (read && scan_range(&at, &first, &last))
		;
	if (!read || at == text)
		m->unread |= UNREAD_CPUS;
	m->cpus = (uint32_t)last + 1;
}

struct rule_pmu *facts_add_pmu(struct facts *f, uint32_t type, const char *name)
{
	struct rule_machine *m = &f->rules.machine;
	struct rule_pmu *more = xrealloc(f->pmus, (m->npmus + 1) * sizeof(*more));
	size_t at = m->npmus;

	if (!more)
		return NULL;
	m->pmus = f->pmus = more;
	m->npmus++;
	for (; at && more[at - 1].type > type; at--)
		more[at] = more[at - 1];
	more[at] = (struct rule_pmu){
		.type = type, .name = name, .desc = pmu_desc_by_name(name),
	};
	return &more[at];
}

/* Store the configs of PMUs whose events/ lists all that the CPU has. */
static bool add_configs(struct facts *f, const struct pmu *p, struct rule_pmu *to)
{
	if ((strcmp(p->name, "msr") && strncmp(p->name, "armv8_pmuv3", 11)) || !p->naliases ||
	    p->partial || f->configs)
		return true;
	f->configs = xcalloc(p->naliases, sizeof(*f->configs));
	if (!f->configs)
		return false;
	for (size_t i = 0; i < p->naliases; i++)
		f->configs[i] = p->aliases[i].config[0];
	to->configs = f->configs;
	to->nconfigs = p->naliases;
	return true;
}

static void find_threshold(struct rule_pmu *p)
{
	char path[512];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/caps/threshold_max", p->name);
	errno = 0;
	p->threshold_unread = !sysfile_number(AT_FDCWD, path, &p->threshold_max) && errno != ENOENT;
}

static void find_pmus(struct facts *f)
{
	struct rule_machine *m = &f->rules.machine;
	const struct pmu *p = host_pmus(f->host);
	bool good = host_has_pmus(f->host), shown = false, kprobes = false, software = false;

	for (; p; p = p->next) {
		struct rule_pmu *added = facts_add_pmu(f, p->type, p->name);

		good &= added && add_configs(f, p, added);
		if (added)
			find_threshold(added);
		shown |= p->type == CPU_CLOCK_TYPE || p->type == TASK_CLOCK_TYPE;
		kprobes |= !strcmp(p->name, "kprobe");
		software |= p->type == PERF_TYPE_SOFTWARE;
	}
	/* every kernel has it, and its type is fixed */
	if (!software)
		good &= facts_add_pmu(f, PERF_TYPE_SOFTWARE, "software") != NULL;
	if (m->release >= CLOCKS_SINCE && !shown) {
		good &= facts_add_pmu(f, CPU_CLOCK_TYPE, "cpu_clock") &&
			facts_add_pmu(f, TASK_CLOCK_TYPE, "task_clock");
	}
	m->pmus_known = good ? FACT_YES : FACT_UNKNOWN;
	if (good && m->release >= KVER(4, 17, 0))
		m->kprobes = fact_of(kprobes);
}

void facts_open(struct facts *f, struct host *h)
{
	struct rule_machine *m = &f->rules.machine;
	struct utsname u;

	*f = (struct facts){ .host = h };
	uname(&u);
	snprintf(f->release, sizeof(f->release), "%s", u.release);
	m->release = kernel_release(&u);
	m->page_size = (uint32_t)sysconf(_SC_PAGESIZE);
	m->arch = arch_by_name(u.machine);
	if (!m->arch)
		m->arch = arch_native();
	m->user_end = user_end(m);
	find_cpus(m);
	m->cgroups = file_has("/proc/cgroups", "perf_event");
	m->wide_breakpoints = file_has("/proc/cpuinfo", "bpext");
	f->virtual_machine = confine_virtual();
	m->lockdown = lockdown();
	m->security = facts_security();
	facts_refresh(f);
	find_pmus(f);
}

void facts_close(struct facts *f)
{
	free(f->pmus);
	free(f->configs);
}
