#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Sources compile for other processors with only a cross compiler and its C library: all for
# arm64, and for the others what folders named arch and their users have; all with LONG=1.

# compile CC FILE...: without warnings
compile() {
	local cc=$1 how=-fsyntax-only
	shift
	command -v "$cc" >/dev/null || skip "no $cc"
	printf '#include <stdio.h>\nint main(void) { return 0; }\n' >"$BATS_TEST_TMPDIR/try.c"
	"$cc" -c -o "$BATS_TEST_TMPDIR/try.o" "$BATS_TEST_TMPDIR/try.c" ||
		skip "$cc has no C library headers"

	# libseccomp's header is that of this machine, as it is the same for all, and is
	# found after the compiler's own directories.  The config.h of this machine describes
	# its libraries: here it is another one.
	mkdir -p "$BATS_TEST_TMPDIR/include"
	printf '%s\n' '#define PACKAGE_STRING "pevtrace"' '#define PACKAGE_VERSION "0"' \
		>"$BATS_TEST_TMPDIR/include/config.h"
	[ "$cc" = musl-gcc ] || printf '#define HAVE_%s 1\n' ON_EXIT SEM_CLOCKWAIT SIGABBREV_NP \
		STRERRORNAME_NP >>"$BATS_TEST_TMPDIR/include/config.h"
	printf '#define _FILE_OFFSET_BITS 64\n' >>"$BATS_TEST_TMPDIR/include/config.h"
	names_of_libc "$cc"
	[ "${LONG:-0}" = 0 ] || how="-O1 -c -o $BATS_TEST_TMPDIR/out.o"
	for file in "$@"; do
		# shellcheck disable=SC2086
		"$cc" -std=gnu11 -D_GNU_SOURCE= -Wall -Wextra -Werror $how \
			-include "$BATS_TEST_TMPDIR/include/config.h" \
			-I"$BATS_TEST_TMPDIR/include" -I"$srcdir/src" -I"$builddir" -idirafter /usr/include \
			-idirafter "/usr/include/$(gcc -print-multiarch)" "$file"
	done
}

# names_of_libc CC: write what the build makes of the headers of that compiler's C library.
names_of_libc() {
	mkdir -p "$BATS_TEST_TMPDIR/include/xlat"
	printf '#include <errno.h>\n#include <signal.h>\n' | "$1" -D_GNU_SOURCE= -E -dM - |
		awk -f "$srcdir/src/core/lib/libc_names.awk" >"$BATS_TEST_TMPDIR/include/xlat/libc_names.inc"
}

every_source() {
	find "$srcdir/src" -name '*.c' ! -name '*.bpf.c'
	echo "$builddir/xlat/tables.c"
}

# The sources that depend on the processor.
arch_sources() {
	if [ "${LONG:-0}" = 0 ]; then
		find "$srcdir/src" -path "*/arch/*" -name '*.c'
		ls "$srcdir"/src/engine/ptrace/{conceal,filter,nr,proc,remote,remote_call,stop}.c \
			"$srcdir"/src/engine/ptrace/second_filter*.c "$srcdir"/src/core/abi/{layout,ioctl}.c \
			"$srcdir/src/engine/rings/own_call.c" "$srcdir/src/core/host/facts.c"
	else
		every_source
	fi
}

@test "all sources compile for aarch64" {
	# shellcheck disable=SC2046
	compile aarch64-linux-gnu-gcc $(every_source)
}

@test "sources compile for riscv64-linux-gnu" {
	# shellcheck disable=SC2046
	compile riscv64-linux-gnu-gcc $(arch_sources)
}

@test "sources compile for s390x-linux-gnu" {
	# shellcheck disable=SC2046
	compile s390x-linux-gnu-gcc $(arch_sources)
}

@test "sources compile for powerpc64le-linux-gnu" {
	# shellcheck disable=SC2046
	compile powerpc64le-linux-gnu-gcc $(arch_sources)
}

@test "sources compile for arm-linux-gnueabihf" {
	# shellcheck disable=SC2046
	compile arm-linux-gnueabihf-gcc $(arch_sources)
}

@test "sources compile for i686-linux-gnu" {
	# shellcheck disable=SC2046
	compile i686-linux-gnu-gcc $(arch_sources)
}

@test "all sources compile with musl" {
	# shellcheck disable=SC2046
	compile musl-gcc $(every_source)
}

@test "what musl lacks: names of errors and signals, and functions at exit" {
	command -v musl-gcc >/dev/null || skip "no musl-gcc"
	names_of_libc musl-gcc
	cat >"$BATS_TEST_TMPDIR/names.c" <<-'EOF'
		#include <stdio.h>
		#include <time.h>
		#include "core/lib/libc.h"

		static void say(int status, void *what)
		{
			printf("%d %s\n", status, (const char *)what);
		}

		int main(void)
		{
			struct timespec end;
			sem_t sem;

			for (int i = 1; i < 134; i++)
				printf("%d %s\n", i, strerrorname_np(i) ? strerrorname_np(i) : "-");
			for (int i = 1; i < 32; i++)
				printf("%d %s\n", i, sigabbrev_np(i) ? sigabbrev_np(i) : "-");
			sem_init(&sem, 0, 0);
			clock_gettime(CLOCK_MONOTONIC, &end);
			printf("waited: %d\n", sem_clockwait(&sem, CLOCK_MONOTONIC, &end));
			sem_post(&sem);
			end.tv_sec += 60;
			printf("waited: %d\n", sem_clockwait(&sem, CLOCK_MONOTONIC, &end));
			on_exit(say, "first");
			on_exit(say, "second");
			return 0;
		}
	EOF
	for cc in "${CC:-gcc}" musl-gcc; do
		flags=
		[ "$cc" = musl-gcc ] || flags="-DHAVE_ON_EXIT -DHAVE_SEM_CLOCKWAIT
			-DHAVE_SIGABBREV_NP -DHAVE_STRERRORNAME_NP"
		# shellcheck disable=SC2086
		$cc -std=gnu11 -D_GNU_SOURCE= $flags -Wall -Wextra -Werror -I"$srcdir/src" \
			-I"$BATS_TEST_TMPDIR/include" -o "$BATS_TEST_TMPDIR/names" \
			"$BATS_TEST_TMPDIR/names.c" "$srcdir"/src/core/lib/libc.c -pthread
		"$BATS_TEST_TMPDIR/names" >"$BATS_TEST_TMPDIR/$(basename "${cc##* }").out"
	done
	diff "$BATS_TEST_TMPDIR"/*.out
}

# Build tests/cross_layout.c by that compiler.
build_layout() {
	"$@" -static -std=gnu11 -D_GNU_SOURCE= -ffunction-sections -fdata-sections \
		-Wl,--gc-sections -I"$srcdir/src" -I"$builddir" \
		-o "$BATS_TEST_TMPDIR/layout" "$srcdir/tests/cross_layout.c" \
		"$srcdir/src/core/abi/layout.c" "$builddir/xlat/tables.c" || skip "cannot link with $1"
}

@test "the compiler places bit-fields as the tables say, in this byte order" {
	build_layout "${CC:-gcc}"
	"$BATS_TEST_TMPDIR/layout"
}

@test "the compiler places bit-fields as the tables say, in big-endian byte order" {
	command -v s390x-linux-gnu-gcc >/dev/null || skip "no s390x-linux-gnu-gcc"
	qemu=$(command -v qemu-s390x-static || command -v qemu-s390x) || skip "no qemu-s390x"
	build_layout s390x-linux-gnu-gcc
	"$qemu" "$BATS_TEST_TMPDIR/layout"
}
