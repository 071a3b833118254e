// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/codegen/c_parts.h"

#include "xlat/constants.h"

static const char must[] =
"#define MUST(call) ({ long got = (call); if (got < 0) err(1, \"%s\", #call); got; })\n"
"\n";

static const char fails[] =
"/* A call that failed in the trace. */\n"
"static void fails(long result, const char *call)\n"
"{\n"
"	if (result >= 0)\n"
"		warnx(\"%s: succeeded, unlike in the trace\", call);\n"
"}\n"
"#define FAILS(call) fails((call), #call)\n"
"\n";

static const char open_event[] =
"/* libc has no wrapper for this system call. */\n"
"static int open_event(void *attr, pid_t pid, int cpu, int group, unsigned long flags)\n"
"{\n"
"	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, group, flags);\n"
"}\n"
"\n";

static const char number_in[] =
"/* Read the number of a PMU's type or of a tracepoint, which differs between machines. */\n"
"static unsigned long long number_in(const char *path)\n"
"{\n"
"	FILE *f = fopen(path, \"re\");\n"
"	unsigned long long number;\n"
"\n"
"	if (!f)\n"
"		err(1, \"%s\", path);\n"
"	if (fscanf(f, \"%llu\", &number) != 1)\n"
"		errx(1, \"%s holds no number\", path);\n"
"	fclose(f);\n"
"	return number;\n"
"}\n"
"\n";

static const char bits[] =
"/* Set bits that struct perf_event_attr of Linux 6.1 has no member for. */\n"
"static void add_bits(void *attr, size_t offset, uint64_t bits)\n"
"{\n"
"	uint64_t word;\n"
"\n"
"	memcpy(&word, (char *)attr + offset, sizeof(word));\n"
"	word |= bits;\n"
"	memcpy((char *)attr + offset, &word, sizeof(word));\n"
"}\n"
"\n";

static const char handler[] =
"/* Signals of events only interrupt a wait. */\n"
"static void ignore(int signal)\n"
"{\n"
"	(void)signal;\n"
"}\n"
"\n";

static const char start_child[] =
"/* Fork a child that execs the command after it has read a byte from the pipe. */\n"
"static pid_t start_child(char **command, int *go)\n"
"{\n"
"	int hold[2];\n"
"\n"
"	MUST(pipe2(hold, O_CLOEXEC));\n"
"	pid_t pid = MUST(fork());\n"
"	close(hold[pid ? 0 : 1]);\n"
"	*go = hold[1];\n"
"	if (pid)\n"
"		return pid;\n"
"	if (read(hold[0], &(char){ 0 }, 1) != 1)\n"
"		_exit(127); /* the parent has failed, and said why */\n"
"	execvp(command[0], command);\n"
"	err(127, \"%s\", command[0]);\n"
"}\n"
"\n";

static const char children_ended[] =
"static bool children_ended(int options)\n"
"{\n"
"	static int living = CHILDREN;\n"
"\n"
"	while (living && waitpid(-1, &status, options) > 0)\n"
"		living--;\n"
"	return !living;\n"
"}\n"
"\n";

static const char interrupt[] =
"static volatile sig_atomic_t interrupted;\n"
"\n"
"static void interrupt(int signal)\n"
"{\n"
"	(void)signal;\n"
"	interrupted = 1;\n"
"}\n"
"\n";

static const char map_ring[] =
"/* The first page of a ring holds the offset of its data, data_head and data_tail. */\n"
"static struct perf_event_mmap_page *ring[RINGS];\n"
"static struct pollfd polled[RINGS];\n"
"\n"
"static void map_ring(int i, int event, size_t length, int prot, int flags)\n"
"{\n"
"	ring[i] = mmap(NULL, length, prot, flags, event, 0);\n"
"	if (ring[i] == MAP_FAILED)\n"
"		err(1, \"mmap\");\n"
"	polled[i] = (struct pollfd){ .fd = event, .events = POLLIN };\n"
"}\n"
"\n";

/* The data of an AUX area need a decoder of the PMU; the program counts their bytes. */
static const char map_aux[] =
"static struct perf_event_mmap_page *aux_of[RINGS];\n"
"static unsigned long long aux_bytes;\n"
"\n"
"/* aux_offset and aux_size must be set in the ring's first page before the mmap. */\n"
"static void map_aux(int i, int event, size_t length, int prot, int flags, off_t offset)\n"
"{\n"
"	int of = 0;\n"
"\n"
"	while (of < i && (polled[of].fd != event || !ring[of]))\n"
"		of++;\n"
"	if (of == i)\n"
"		errx(1, \"no ring for the AUX area\");\n"
"	aux_of[i] = ring[of];\n"
"	aux_of[i]->aux_offset = (uint64_t)offset;\n"
"	aux_of[i]->aux_size = length;\n"
"	ring[i] = mmap(NULL, length, prot, flags, event, offset);\n"
"	if (ring[i] == MAP_FAILED)\n"
"		err(1, \"mmap of the AUX area\");\n"
"	polled[i].fd = -1;\n"
"}\n"
"\n"
"/* Count new bytes, and free their space. */\n"
"static void drain_aux(int i)\n"
"{\n"
"	uint64_t head = __atomic_load_n(&aux_of[i]->aux_head, __ATOMIC_ACQUIRE);\n"
"\n"
"	aux_bytes += head - aux_of[i]->aux_tail;\n"
"	__atomic_store_n(&aux_of[i]->aux_tail, head, __ATOMIC_RELEASE);\n"
"}\n"
"\n";

static const char record_at[] =
"/* Copy the record at a position; it may wrap around the end of the ring. */\n"
"static const struct perf_event_header *record_at(int i, uint64_t place, uint64_t most)\n"
"{\n"
"	static uint64_t copy[65536 / sizeof(uint64_t)]; /* no record is larger */\n"
"	const char *data = (const char *)ring[i] + ring[i]->data_offset;\n"
"	uint64_t at = place % ring[i]->data_size, left = ring[i]->data_size - at;\n"
"	uint16_t size = ((const struct perf_event_header *)(data + at))->size;\n"
"\n"
"	if (size < sizeof(struct perf_event_header) || size > most)\n"
"		return NULL;\n"
"	memcpy(copy, data + at, size < left ? size : left);\n"
"	if (size > left)\n"
"		memcpy((char *)copy + left, data, size - left);\n"
"	return (const void *)copy;\n"
"}\n"
"\n";

static const char drain[] =
"/* Read new records, and free their space. */\n"
"static void drain(int i)\n"
"{\n"
"	/* acquire: read the records after data_head */\n"
"	uint64_t head = __atomic_load_n(&ring[i]->data_head, __ATOMIC_ACQUIRE);\n"
"	uint64_t tail = ring[i]->data_tail;\n"
"\n"
"	for (const struct perf_event_header *h; tail != head; tail += h->size) {\n"
"		h = record_at(i, tail, head - tail);\n"
"		if (!h)\n"
"			errx(1, \"damaged record in ring %d\", i);\n"
"		on_record(h);\n"
"	}\n"
"	/* release: the kernel may overwrite them from here on */\n"
"	__atomic_store_n(&ring[i]->data_tail, tail, __ATOMIC_RELEASE);\n"
"}\n"
"\n";

static const char drain_overwritten[] =
"/* The kernel overwrites unread records; count their bytes. */\n"
"static void drain_overwritten(int i)\n"
"{\n"
"	const struct perf_event_header *h;\n"
"	uint64_t head = __atomic_load_n(&ring[i]->data_head, __ATOMIC_ACQUIRE);\n"
"\n"
"	if (head - seen[i] > ring[i]->data_size) {\n"
"		overrun += head - seen[i];\n"
"		seen[i] = head;\n"
"	}\n"
"	for (; seen[i] != head; seen[i] += h->size) {\n"
"		h = record_at(i, seen[i], head - seen[i]);\n"
"		if (!h)\n"
"			break;\n"
"		on_record(h);\n"
"	}\n"
"	seen[i] = head;\n"
"}\n"
"\n";

static const char drain_backward[] =
"/* data_head decreases: the newest record is first, older ones follow. */\n"
"static void drain_backward(int i)\n"
"{\n"
"	const struct perf_event_header *h;\n"
"	uint64_t head = __atomic_load_n(&ring[i]->data_head, __ATOMIC_ACQUIRE);\n"
"	uint64_t size = ring[i]->data_size, at = head;\n"
"	uint64_t end = seen[i] - head < size ? seen[i] : head + size;\n"
"\n"
"	for (; at != end; at += h->size) {\n"
"		h = record_at(i, at, end - at);\n"
"		if (!h)\n"
"			break; /* the oldest record is partly overwritten */\n"
"		on_record(h);\n"
"	}\n"
"	overrun += seen[i] - end;\n"
"	seen[i] = head;\n"
"}\n"
"\n";

static const char watch_rings[] =
"		poll(polled, RINGS, ended ? 0 : 100);\n"
"		for (int i = 0; i < RINGS; i++) {\n"
"			%s%s;\n"
"			if (polled[i].revents & POLLHUP)\n"
"				polled[i].fd = -1; /* the measured task has exited */\n"
"		}\n"
"	}\n"
"}\n"
"\n";

static const char print_count[] =
"static void print_count(int event, const char *name)\n"
"{\n"
"	unsigned long long count[5]; /* the count, then what read_format adds */\n"
"\n"
"	if (!MUST(read(event, count, sizeof(count))))\n"
"		errx(1, \"%s could not be scheduled on its PMU\", name);\n"
"	fprintf(stderr, \"%18llu %s\\n\", count[0], name);\n";

static const char print_part[] =
"	if (count[2] < count[1]) /* times: enabled, running */\n"
"		fprintf(stderr, \"%18s counted for %.1f%% of the time\\n\", \"\",\n"
"			100.0 * (double)count[2] / (double)count[1]);\n";

static const char print_lost[] =
"	if (count[%1$d])\n"
"		fprintf(stderr, \"%%18llu of its samples lost\\n\", count[%1$d]);\n";

static const char print_counts[] =
"/* Print what a read returns; names has the n events of the group. */\n"
"static void print_counts(int event, uint64_t format, const char *const *names, uint64_t n)\n"
"{\n"
"	unsigned long long words[3 + 3 * (EVENTS + 1)], enabled = 0, running = 0;\n"
"	/* the times follow the count, or in a group the number of counts */\n"
"	const unsigned long long *count = words, *at = words + 1;\n"
"\n"
"	if (!MUST(read(event, words, sizeof(words))))\n"
"		errx(1, \"%s could not be scheduled on its PMU\", names[0]);\n"
"	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)\n"
"		enabled = *at++;\n"
"	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)\n"
"		running = *at++;\n"
"	else\n"
"		running = enabled;\n"
"	if (format & PERF_FORMAT_GROUP) {\n"
"		n = words[0] < n ? words[0] : n;\n"
"		count = at;\n"
"	}\n"
"	for (uint64_t i = 0; i < n; i++) {\n"
"		fprintf(stderr, \"%18llu %s\\n\", *count++, names[i]);\n"
"		/* id and lost follow each count of a group, otherwise the times */\n"
"		if (!(format & PERF_FORMAT_GROUP))\n"
"			count = at;\n"
"		if (format & PERF_FORMAT_ID)\n"
"			count++;\n"
"		if (format & PERF_FORMAT_LOST && *count++)\n"
"			fprintf(stderr, \"%18llu of its samples lost\\n\", count[-1]);\n"
"	}\n"
"	if (running < enabled)\n"
"		fprintf(stderr, \"%18s counted for %.1f%% of the time\\n\", \"\",\n"
"			100.0 * (double)running / (double)enabled);\n"
"}\n"
"\n";

static const char work[] =
"/* Replace this by the code to measure. */\n"
"static void work(void)\n"
"{\n"
"	for (volatile unsigned int i = 0; i < 10000000; i++)\n"
"		continue;\n"
"}\n"
"\n";

const char *c_drain_name(enum c_drain kind)
{
	static const char *const names[DRAIN_KINDS] = {
		[DRAIN_RING] = "drain", [DRAIN_OVERWRITTEN] = "drain_overwritten",
		[DRAIN_BACKWARD] = "drain_backward", [DRAIN_AUX] = "drain_aux",
	};

	return names[kind];
}

bool c_parts_mixed(const struct c_parts *p)
{
	int kinds = 0;

	for (int i = 0; i < DRAIN_KINDS; i++)
		kinds += p->drains[i];
	return kinds > 1;
}

bool c_parts_plain_counts(const struct c_parts *p)
{
	/* all reads have the same layout */
	return !(p->all_formats & PERF_FORMAT_GROUP) && p->all_formats == p->common_format;
}

/* Of FORK, EXIT and COMM records (perf_event_open(2), MMAP layout). */
static const char print_task[] =
"	const uint32_t *ids = (const void *)(h + 1);\n"
"\n"
"	if (h->type == PERF_RECORD_FORK || h->type == PERF_RECORD_EXIT)\n"
"		printf(\"%s pid=%u ppid=%u tid=%u ptid=%u\\n\",\n"
"		       h->type == PERF_RECORD_FORK ? \"fork\" : \"exit\",\n"
"		       ids[0], ids[1], ids[2], ids[3]);\n"
"	if (h->type == PERF_RECORD_COMM)\n"
"		printf(\"comm pid=%u tid=%u comm=%s\\n\", ids[0], ids[1], (const char *)&ids[2]);\n";

static void write_record(const struct c_parts *p, struct buf *out)
{
	if (p->sample)
		buf_addf(out, "/* The members of a sample, as selected by sample_type. */\n"
			 "struct sample {\n	struct perf_event_header header;\n%s};\n\n",
			 p->sample);
	buf_adds(out, "static unsigned long long samples, others, lost;\n\n"
		 "static void on_record(const struct perf_event_header *h)\n{\n");
	if (p->sample)
		buf_adds(out, "	const struct sample *s = (const void *)h;\n\n");
	buf_adds(out, "	samples += h->type == PERF_RECORD_SAMPLE;\n"
		 "	others += h->type != PERF_RECORD_SAMPLE;\n"
		 "	if (h->type == PERF_RECORD_LOST || h->type == PERF_RECORD_LOST_SAMPLES)\n"
		 "		lost += ((const uint64_t *)(h + 1))[h->type == PERF_RECORD_LOST];\n");
	if (p->sample)
		buf_addf(out, "	if (h->type == PERF_RECORD_SAMPLE)\n"
			 "		printf(%s);\n", p->sample_print);
	if (p->tasks)
		buf_adds(out, print_task);
	buf_adds(out, "}\n\n");
}

static void write_drains(const struct c_parts *p, const char *table, struct buf *out)
{
	if (p->drains[DRAIN_OVERWRITTEN] || p->drains[DRAIN_BACKWARD])
		buf_adds(out, "static unsigned long long seen[RINGS], overrun; "
			 "/* position of the last read; bytes lost */\n\n");
	if (p->records) {
		write_record(p, out);
		buf_adds(out, record_at);
	}
	if (p->drains[DRAIN_RING])
		buf_adds(out, drain);
	if (p->drains[DRAIN_OVERWRITTEN])
		buf_adds(out, drain_overwritten);
	if (p->drains[DRAIN_BACKWARD])
		buf_adds(out, drain_backward);
	if (p->drains[DRAIN_AUX])
		buf_adds(out, map_aux);
	buf_adds(out, table);
}

static const char *drain_call(const struct c_parts *p)
{
	if (c_parts_mixed(p))
		return "drains[i](i)";
	return p->drains[DRAIN_RING] ? "drain(i)" :
	       p->drains[DRAIN_BACKWARD] ? "drain_backward(i)" : "drain_overwritten(i)";
}

static void write_watch(const struct c_parts *p, struct buf *out)
{
	if (p->children > 1)
		buf_adds(out, children_ended);
	if (p->until_signal)
		buf_adds(out, interrupt);
	if (!p->watches)
		return;
	buf_addf(out, "/* Read records until %s. */\n"
		 "static void watch(%s)\n{\n	for (bool ended = false; !ended;) {\n",
		 p->children ? "the command ends" : "^C, or all measured tasks have exited",
		 p->children == 1 ? "pid_t child" : "void");
	if (p->children)
		buf_addf(out, "		ended = %s;\n", p->children > 1 ?
			 "children_ended(WNOHANG)" :
			 "waitpid(child, &status, WNOHANG) != 0");
	else
		buf_adds(out, "		ended = true;\n"
			 "		for (int i = 0; i < RINGS; i++)\n"
			 "			ended &= polled[i].fd < 0;\n"
			 "		ended |= interrupted;\n");
	buf_addf(out, watch_rings, p->gaps ? "if (ring[i])\n\t\t\t\t" : "", drain_call(p));
}

static void write_counts(const struct c_parts *p, struct buf *out)
{
	const uint64_t times = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;

	if (!c_parts_plain_counts(p)) {
		buf_adds(out, print_counts);
		return;
	}
	buf_adds(out, print_count);
	if ((p->common_format & times) == times)
		buf_adds(out, print_part);
	if (p->common_format & PERF_FORMAT_LOST) /* the last of all */
		buf_addf(out, print_lost, 1 + __builtin_popcountll((unsigned long long)(
			 p->common_format & (times | PERF_FORMAT_ID))));
	buf_adds(out, "}\n\n");
}

void c_parts_write(const struct c_parts *p, const char *drain_table, struct buf *out)
{
	if (p->children)
		buf_adds(out, "static int status; /* of the command */\n\n");
	if (p->must)
		buf_adds(out, must);
	if (p->fails)
		buf_adds(out, fails);
	buf_adds(out, open_event);
	if (p->numbers)
		buf_adds(out, number_in);
	if (p->bits)
		buf_adds(out, bits);
	if (p->handler)
		buf_adds(out, handler);
	if (p->children)
		buf_adds(out, start_child);
	if (p->rings)
		buf_adds(out, map_ring);
	write_drains(p, drain_table, out);
	write_watch(p, out);
	if (p->reads)
		write_counts(p, out);
	if (p->works)
		buf_adds(out, work);
}
