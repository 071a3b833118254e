#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Every source compiles for 64-bit ARM with only a cross compiler and its C library:
# all code for one architecture is in src/abi/arch/.

@test "all sources compile for aarch64" {
	cc=aarch64-linux-gnu-gcc
	command -v "$cc" >/dev/null || skip "no $cc"
	echo 'int main(void) { return 0; }' >"$BATS_TEST_TMPDIR/try.c"
	echo '#include <stdio.h>' >>"$BATS_TEST_TMPDIR/try.c"
	"$cc" -c -o "$BATS_TEST_TMPDIR/try.o" "$BATS_TEST_TMPDIR/try.c" ||
		skip "$cc has no C library headers"

	# libseccomp's header is that of this machine, as it is the same for all, and is
	# found after the compiler's own directories.  config.h is not included: it
	# describes the libraries of this machine.
	how=-fsyntax-only
	[ "${LONG:-0}" = 0 ] || how="-O1 -c -o $BATS_TEST_TMPDIR/out.o"
	for file in $(find "$srcdir/src" -name '*.c' ! -name '*.bpf.c') "$builddir/xlat/tables.c"; do
		# shellcheck disable=SC2086
		"$cc" -std=gnu11 -D_GNU_SOURCE= -DPACKAGE_STRING='"pevtrace"' -DPACKAGE_VERSION='"0"' \
			-Wall -Wextra -Werror $how \
			-I"$srcdir/src" -I"$builddir" -idirafter /usr/include "$file"
	done
}
