#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Every source compiles for 64-bit ARM with nothing but a cross compiler and
# its C library: what is per-architecture stands in src/abi/arch/ alone.

@test "all sources compile for aarch64" {
	cc=aarch64-linux-gnu-gcc
	command -v "$cc" >/dev/null || skip "no $cc"
	echo 'int main(void) { return 0; }' >"$BATS_TEST_TMPDIR/try.c"
	echo '#include <stdio.h>' >>"$BATS_TEST_TMPDIR/try.c"
	"$cc" -c -o "$BATS_TEST_TMPDIR/try.o" "$BATS_TEST_TMPDIR/try.c" ||
		skip "$cc has no C library headers"

	# Only libseccomp's header is borrowed from this machine: it is the
	# same for all, and so comes after the compiler's own directories.
	# config.h of this machine would promise libraries that ARM lacks.
	how=-fsyntax-only
	[ "${LONG:-0}" = 0 ] || how="-O1 -c -o $BATS_TEST_TMPDIR/out.o"
	for file in $(find "$srcdir/src" -name '*.c') "$builddir/xlat/tables.c"; do
		# shellcheck disable=SC2086
		"$cc" -std=gnu11 -D_GNU_SOURCE= -DPACKAGE_STRING='"pevtrace"' -DPACKAGE_VERSION='"0"' \
			-Wall -Wextra -Werror $how \
			-I"$srcdir/src" -I"$builddir" -idirafter /usr/include "$file"
	done
}
