// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A dump read by the verbs other than decode: its normal form, which must equal
 * itself, a C program, a page, a story, trace events, a perf.data file, and the calls that
 * failed.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "formats/codegen/gather.h"
#include "formats/diff/compare.h"
#include "formats/perfdata/perfdata.h"
#include "verbs/cli/input.h"
#include "verbs/cmd.h"
#include "verbs/why/why.h"
#include "fuzz.h"

const unsigned long fuzz_inputs = 1500;

static FILE *file_of(const uint8_t *data, size_t len)
{
	int fd = memfd_create("dump", 0);
	FILE *f;

	if (fd < 0 || write(fd, data, len) != (ssize_t)len || lseek(fd, 0, SEEK_SET) ||
	    !(f = fdopen(fd, "r")))
		abort();
	return f;
}

static void make_program(FILE *f)
{
	const struct c_choice choice = { .all = true };
	struct buf text = { 0 };
	struct gathered g;

	if (gather_read(&g, f, "dump", 0, 0) && c_program_choose(g.program, &choice))
		c_program_write(g.program, &text);
	for (size_t i = 0; i < text.len; i++)
		if (!strchr("\t\n", text.data[i]) && (text.data[i] < ' ' || text.data[i] > '~'))
			fuzz_wrong("a byte that is not ASCII's in", text.data);
	buf_free(&text);
	gathered_free(&g);
}

static struct normal *normal_of(FILE *f, struct normal_forms *forms, bool no_probes)
{
	const struct normal_reading how = { .keep_going = true, .no_probes = no_probes };
	bool whole;

	rewind(f);
	return normal_read(f, "dump", forms, &how, &whole);
}

static void tell(void *ctx, const struct difference *d)
{
	struct buf *out = ctx;

	buf_addf(out, "%s %s %s", d->call, d->line, d->field ? d->field : "");
}

static void compare_forms(FILE *f)
{
	const struct normal_choice choice = { .ignore = NULL };
	struct normal_forms *forms = normal_forms_new();
	struct normal *a = normal_of(f, forms, false), *b = normal_of(f, forms, false);
	struct buf out = { 0 };

	if (a && b && !normal_compare(a, b, &choice, tell, &out))
		fuzz_wrong("not the same as itself", buf_str(&out));
	normal_free(b);
	b = normal_of(f, forms, true);
	if (a && b)
		normal_compare(a, b, &choice, tell, &out);
	fuzz_check_text(&out);
	normal_free(a);
	normal_free(b);
	normal_forms_free(forms);
	buf_free(&out);
}

static void ignore_record(void *ctx, const struct perfdata_record *r)
{
	(void)ctx, (void)r;
}

static void find_failures(FILE *f)
{
	struct why_failures failures;

	rewind(f);
	why_failures_of_dump(f, "dump", NULL, &failures);
	why_failures_free(&failures);
}

/* A perf.data file of the dump must be one for the reader of such files. */
static void make_perf_data(const char *path)
{
	int fd = memfd_create("perf.data", 0);
	char out[32];
	struct perfdata *p;
	FILE *f;

	snprintf(out, sizeof(out), "/proc/self/fd/%d", fd);
	verb_run(&report_verb, NULL, 6, (char *[]){ "report", "--keep-going", "--format=perf-data", "-o",
				  out, (char *)path, NULL });
	f = fdopen(fd, "r");
	if (fd < 0 || !f)
		abort();
	p = lseek(fd, 0, SEEK_END) > 0 ? perfdata_open(f, out, NULL) : NULL;
	if (p) {
		perfdata_records(p, ignore_record, NULL);
		if (!perfdata_whole(p))
			fuzz_wrong("damaged", "the perf.data file that was written");
		perfdata_close(p);
	}
	fclose(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	FILE *f = file_of(data, len);
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(f));
	make_program(f);
	compare_forms(f);
	find_failures(f);
	if (input_file_kind(path) == INPUT_LOG || input_file_kind(path) == INPUT_PERF_DATA) {
		fclose(f);	/* the verbs refuse it */
		return 0;
	}
	verb_run(&report_verb, NULL, 5, (char *[]){ "report", "--keep-going", "-o", "/dev/null", path, NULL });
	verb_run(&report_verb, NULL, 6, (char *[]){ "report", "--keep-going", "--format=chrome", "-o", "/dev/null",
				  path, NULL });
	verb_run(&report_verb, NULL, 6, (char *[]){ "report", "--keep-going", "--format=perf-data", "-o", "/dev/null",
				  path, NULL });
	make_perf_data(path);
	verb_run(&explain_verb, NULL, 5, (char *[]){ "explain", "--deep", "-o", "/dev/null", path, NULL });
	fclose(f);
	return 0;
}
