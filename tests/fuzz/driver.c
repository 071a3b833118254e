// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Run a fuzzer without libFuzzer: its corpus, then a fixed number of mutated inputs,
 * the same ones each time.  Each input ends right before an unreadable page.  Print TAP.
 *
 * usage: fuzz_NAME CORPUS_DIRECTORY...
 *	  fuzz_NAME FILE...		runs these
 *
 * FUZZ_INPUTS	number of inputs: 20000, or the fuzzer's own default
 * FUZZ_SEED	seed of the random numbers: 1
 * FUZZ_TEXT	if set, print what is made of each input
 *
 * An input that causes a crash, or uses SECONDS of CPU time, is left in fuzz_NAME.input
 * in the current directory.  With -DLIBFUZZER this file compiles to nothing.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "fuzz.h"

#ifndef LIBFUZZER

enum {
	INPUT_MAX = 1 << 16,
	SEEDS_MAX = 1 << 16,
	CHANGES_MAX = 6,	/* of one input */
	SECONDS = 20,
};

struct seed {
	uint8_t *bytes;
	size_t len;
	char *name;
};

static struct seed seeds[SEEDS_MAX];
static size_t nseeds;
static uint8_t *room;		/* INPUT_MAX bytes, then the page */
static uint8_t *input;		/* in it */
static size_t input_len;
static char left[256];		/* the file for what brings us down */

/* There with the sanitizers only. */
__attribute__((weak)) void __sanitizer_set_death_callback(void (*hook)(void));
__attribute__((weak)) void __sanitizer_set_report_fd(void *fd);
/* There in a build that measures coverage. */
__attribute__((weak)) int __llvm_profile_write_file(void);

static void leave_input(void)
{
	static const char word[] = "not ok - the input is in ";
	int fd = open(left, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, input, input_len) < 0 ||
	    write(STDOUT_FILENO, word, sizeof(word) - 1) < 0 ||
	    write(STDOUT_FILENO, left, strlen(left)) < 0 || write(STDOUT_FILENO, "\n", 1) < 0)
		return;
}

static void on_signal(int sig)
{
	leave_input();
	signal(sig, SIG_DFL);
	raise(sig);
}

static void catch_ends(const char *program)
{
	static const int deadly[] = { SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGVTALRM };
	const char *name = strrchr(program, '/');

	snprintf(left, sizeof(left), "%s.input", name ? name + 1 : program);
	unlink(left);
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(leave_input);
	for (size_t i = 0; i < sizeof(deadly) / sizeof(*deadly); i++)
		if (!__sanitizer_set_death_callback || deadly[i] == SIGABRT ||
		    deadly[i] == SIGVTALRM)
			signal(deadly[i], on_signal);
	atexit(leave_input); /* taken back by _exit() at the end */
}

static void make_room(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	room = mmap(NULL, INPUT_MAX + page, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (room == MAP_FAILED || mprotect(room + INPUT_MAX, page, PROT_NONE))
		abort();
}

static void run(const uint8_t *bytes, size_t len)
{
	const struct itimerval patience = { .it_value.tv_sec = SECONDS };

	input = room + INPUT_MAX - len;
	input_len = len;
	if (len)
		memcpy(input, bytes, len);
	setitimer(ITIMER_VIRTUAL, &patience, NULL);
	LLVMFuzzerTestOneInput(input, len);
}

/* The corpus ------------------------------------------------------------------- */

static void read_seed(const char *path)
{
	uint8_t *bytes = malloc(INPUT_MAX);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (!bytes || fd < 0 || (n = read(fd, bytes, INPUT_MAX)) < 0) {
		printf("not ok - cannot read %s: %s\n", path, strerror(errno));
		_exit(2);
	}
	close(fd);
	if (nseeds < SEEDS_MAX)
		seeds[nseeds++] = (struct seed){
			realloc(bytes, n ? (size_t)n : 1), (size_t)n, strdup(path),
		};
}

static int no_dots(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static void read_seeds(const char *path)
{
	struct dirent **entries;
	char name[4096];
	struct stat st;
	int n;

	if (stat(path, &st) || !S_ISDIR(st.st_mode)) {
		read_seed(path);
		return;
	}
	n = scandir(path, &entries, no_dots, alphasort); /* the same order each time */
	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name);
		read_seed(name);
		free(entries[i]);
	}
	free(entries);
}

/* Changes ------------------------------------------------------------------------ */

static uint64_t state;

static uint64_t any(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return below ? (state >> 11) % below : 0;
}

static struct seed *any_seed(void)
{
	return &seeds[any(nseeds)];
}

/* Puts n bytes in at a place, whose rest moves on, or over what is there. */
static void put(uint8_t *b, size_t *len, size_t at, const void *bytes, size_t n, bool over)
{
	size_t end;

	if (n > INPUT_MAX - at)
		n = INPUT_MAX - at;
	end = at + n;
	if (!over && *len > at) {
		size_t rest = *len - at;

		if (rest > INPUT_MAX - end)
			rest = INPUT_MAX - end;
		memmove(b + end, b + at, rest);
		*len = end + rest;
	}
	memmove(b + at, bytes, n);
	if (*len < end)
		*len = end;
}

/* Numbers at which something ends, of 1 to 8 bytes. */
static void put_number(uint8_t *b, size_t *len)
{
	static const uint64_t numbers[] = {
		0, 1, 7, 8, 9, 63, 64, 65, 72, 127, 128, 136, 144, 255, 256, 4095, 4096, 0x7fff,
		0x8000, 0xfff8, 0xffff, 0x10000, 0x10008, 0x7fffffff, 0x80000000, 0xfffffff8,
		0xffffffff, 0x100000000, 0x7fffffffffffffff, 0x8000000000000000,
		0xfffffffffffffff8, 0xffffffffffffffff,
	};
	uint64_t v = any(4) ? numbers[any(sizeof(numbers) / sizeof(*numbers))] : 1ULL << any(64);
	size_t width = 1u << any(4);
	size_t at = any(*len + 1);
	bool over;

	/* one number in each statement: compilers differ in the order of arguments */
	at &= any(2) ? ~(width - 1) : SIZE_MAX;
	over = any(3);
	put(b, len, at, &v, width, over);
}

/* Words that texts are made of; decoders of bytes take them for bytes. */
static void put_word(uint8_t *b, size_t *len)
{
	static const char *const words[] = {
		"0x", "-1", "18446744073709551615", "{", "}", "[", "]", "(", ")", "\"", "\\", "/",
		":", ",", "=", "==", "&&", "||", "!", "|", "&", "*/", "/*", "\n", " ", "...", "\033[",
		"type", "config", "PERF_", "sample_type", "\\x", "\\u", "<<", "u64", "null", ".B ",
		".TP\n", "\\f", "\\\"", "@", "%", "'",
	};
	const char *word = words[any(sizeof(words) / sizeof(*words))];
	size_t at = any(*len + 1);
	bool over = !any(3);

	put(b, len, at, word, strlen(word), over);
}

static void change(uint8_t *b, size_t *len)
{
	const struct seed *other = any_seed();
	size_t at = any(*len + 1), n = any(*len - at + 1), from, rest;
	uint8_t byte = (uint8_t)any(256);
	bool over;

	switch (any(10)) {
	case 0: case 1: case 2:
		from = any(*len);
		if (*len)
			b[from] ^= (uint8_t)(1u << any(8));
		break;
	case 3:
		*len = at;
		break;
	case 4: /* takes some out */
		memmove(b + at, b + at + n, *len - at - n);
		*len -= n;
		break;
	case 5: case 6:
		put_number(b, len);
		break;
	case 7:
		put_word(b, len);
		break;
	case 8: /* a piece of itself once more, or of another */
		from = any(other->len + 1);
		if (any(2)) {
			put(b, len, any(*len + 1), b + at, n, false);
			break;
		}
		rest = any(other->len - from + 1);
		over = any(2);
		put(b, len, at, other->bytes + from, rest, over);
		break;
	case 9:
		put(b, len, at, &byte, 1, any(2));
		break;
	}
}

static void run_changed(void)
{
	static uint8_t work[INPUT_MAX];
	const struct seed *s = any_seed();
	size_t len = s->len;

	if (len)
		memcpy(work, s->bytes, len);
	for (uint64_t n = 1 + any(CHANGES_MAX); n; n--)
		change(work, &len);
	run(work, len);
}

static unsigned long number_of(const char *name, unsigned long otherwise)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 0) : otherwise;
}

/* What is wrong with an input is no news; what the sanitizers say is. */
static void be_quiet(void)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (__sanitizer_set_report_fd)
		__sanitizer_set_report_fd((void *)(intptr_t)dup(STDERR_FILENO));
	if (null < 0 || dup2(null, STDERR_FILENO) < 0)
		abort();
}

int main(int argc, char **argv)
{
	unsigned long inputs = number_of("FUZZ_INPUTS", &fuzz_inputs ? fuzz_inputs : 20000);
	struct stat st;

	make_room();
	catch_ends(argv[0]);
	for (int i = 1; i < argc; i++)
		read_seeds(argv[i]);
	if (!nseeds) {
		printf("not ok - no corpus\n");
		_exit(2);
	}
	be_quiet();
	for (size_t i = 0; i < nseeds; i++) {
		if (fuzz_shows())
			printf("== %s\n", strrchr(seeds[i].name, '/') + 1);
		fflush(stdout);
		run(seeds[i].bytes, seeds[i].len);
	}
	printf("ok 1 - %zu inputs of the corpus\n", nseeds);
	if (stat(argv[1], &st) || !S_ISDIR(st.st_mode))
		inputs = 0;
	state = number_of("FUZZ_SEED", 1) * 0x9e3779b97f4a7c15ULL;
	for (unsigned long i = 0; i < inputs; i++) {
		if (fuzz_shows())
			printf("== changed %lu\n", i);
		fflush(stdout);
		run_changed();
	}
	printf("ok 2 - %lu changed ones\n1..2\n", inputs);
	fflush(stdout);
	if (__llvm_profile_write_file)
		__llvm_profile_write_file();
	_exit(0); /* exit() on the way here is what we look for */
}

#endif
