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
	[ "${LONG:-0}" = 0 ] || how="-O1 -c -o $BATS_TEST_TMPDIR/out.o"
	for file in "$@"; do
		# shellcheck disable=SC2086
		"$cc" -std=gnu11 -D_GNU_SOURCE= -Wall -Wextra -Werror $how \
			-include "$BATS_TEST_TMPDIR/include/config.h" \
			-I"$BATS_TEST_TMPDIR/include" -I"$srcdir/src" -I"$builddir" -idirafter /usr/include "$file"
	done
}

every_source() {
	find "$srcdir/src" -name '*.c' ! -name '*.bpf.c'
	echo "$builddir/xlat/tables.c"
}

# The sources that depend on the processor.
arch_sources() {
	if [ "${LONG:-0}" = 0 ]; then
		find "$srcdir"/src/*/arch -name '*.c'
		ls "$srcdir"/src/trace/{conceal,filter,inject,nr,ptrace,remote_call,stop}.c \
			"$srcdir"/src/trace/second_filter*.c "$srcdir"/src/abi/{layout,ioctl}.c \
			"$srcdir/src/drive/own_call.c" "$srcdir/src/host/facts.c"
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

# Build tests/cross_layout.c by that compiler.
build_layout() {
	"$@" -static -std=gnu11 -D_GNU_SOURCE= -ffunction-sections -fdata-sections \
		-Wl,--gc-sections -I"$srcdir/src" -I"$builddir" \
		-o "$BATS_TEST_TMPDIR/layout" "$srcdir/tests/cross_layout.c" \
		"$srcdir/src/abi/layout.c" "$builddir/xlat/tables.c" || skip "cannot link with $1"
}

@test "the compiler places bit-fields as the tables say, in this byte order" {
	build_layout "${CC:-gcc}"
	"$BATS_TEST_TMPDIR/layout"
}

@test "the compiler places bit-fields as the tables say, in big-endian byte order" {
	command -v s390x-linux-gnu-gcc >/dev/null || skip "no s390x-linux-gnu-gcc"
	command -v qemu-s390x-static >/dev/null || skip "no qemu-s390x-static"
	build_layout s390x-linux-gnu-gcc
	qemu-s390x-static "$BATS_TEST_TMPDIR/layout"
}
