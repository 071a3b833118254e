#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# quickstart in a directory of its own, with an apt-get, a sudo and an autogen.sh that only write
# what they were asked for, and without any package that is required.

setup() {
	dir=$(mktemp -d)	# another user cannot reach that of bats
	there=$dir/there
	mkdir "$there" "$dir/bin"
	cp "$srcdir/quickstart" "$there"
	for tool in sh id cut date dirname env grep kill mkdir mktemp nproc rm rmdir sleep stat tail tr \
		touch uname; do
		ln -s "$(command -v "$tool")" "$dir/bin"
	done
	stub apt-get 'echo "apt-get $*" >>"$ASKED"; exit "${APT_FAILS:-0}"'
	stub sudo 'echo "sudo $*" >>"$ASKED"; [ "$1" = -v ] && { echo question; exit; }; exec "$@"'
	printf '#!/bin/sh\nmktemp "${TMPDIR:-/tmp}/x.XXXXXX" || exit\nexit 7\n' >"$there/autogen.sh"
	chmod +x "$there/autogen.sh"
	export ASKED=$dir/asked
	: >"$ASKED"
	chmod -R a+rwX "$dir"
	as_ann=
	if [ "$(id -u)" -eq 0 ]; then
		as_ann="setpriv --reuid=65534 --regid=65534 --clear-groups"
		$as_ann test -x "$there/quickstart" || as_ann=
	fi
}

teardown() {
	rm -rf "$dir"
}

# stub NAME BODY: a command of that name in PATH
stub() {
	printf '#!/bin/sh\n%s\n' "$2" >"$dir/bin/$1"
	chmod +x "$dir/bin/$1"
}

# Forget what was asked for, and what could not be installed.
forget() {
	rm -f "$there/build/unavailable"
	: >"$ASKED"
}

# quickstart WORD...: run it with the commands above and no others
quickstart() {
	run $as_ann env PATH="$dir/bin" "$there/quickstart" "$@"
	echo "$output"
	cat "$ASKED"
}

@test "the first step has what the recipes require, and only test-long the large packages" {
	quickstart
	grep -q 'install gcc .*libdw-dev zlib1g-dev' "$ASKED"
	[ -z "$(grep -E 'clang|valgrind|chromium' "$ASKED")" ]
	forget
	quickstart full
	grep -q 'install .*clang' "$ASKED"
	[ -z "$(grep -E 'valgrind|chromium' "$ASKED")" ]
	forget
	quickstart test
	grep -q 'install .*clang .*valgrind' "$ASKED"
	[ -z "$(grep -E 'chromium|gcc-|qemu' "$ASKED")" ]
	for word in test-long sanitize; do
		forget
		quickstart "$word"
		grep -q 'install .*clang .*valgrind .*chromium' "$ASKED"
		[ "$(uname -m)" != x86_64 ] || grep -q 'gcc-i686-linux-gnu .*qemu-user-static' "$ASKED"
	done
}

@test "what was installed and is not there is not asked for again" {
	quickstart
	grep -qx libdw-dev "$there/build/unavailable"
	: >"$ASKED"
	quickstart
	grep -q 'install gcc' "$ASKED"
	[ -z "$(grep -E libdw-dev "$ASKED")" ]
}

@test "it ends with an explained session, and three commands to try" {
	stub gcc :
	stub pkg-config :
	stub make 'mkdir -p build; printf "#!/bin/sh\necho \"traced: \$*\"\n" >build/pevtrace; chmod +x build/pevtrace'
	ln -s "$(command -v cat)" "$(command -v chmod)" "$(command -v head)" "$dir/bin"
	printf '#!/bin/sh\n: >Makefile\n' >"$there/configure"
	chmod +x "$there/configure"
	quickstart --no-install
	[ "$status" -eq 0 ]
	[ "$(grep -c '^traced: ' <<<"$output")" -eq 1 ]
	grep -qx 'traced: --explain build/tests/targets/demo' <<<"$output"
	[ "$(tail -n 4 <<<"$output" | head -n 1)" = "Try next:" ]
	[ "$(tail -n 3 <<<"$output" | grep -c '^  build/pevtrace [^#]*  # ')" -eq 3 ]
}

@test "sudo asks for its password before the output is hidden" {
	[ -n "$as_ann" ] || [ "$(id -u)" -ne 0 ] || skip "an ordinary user cannot reach $there"
	quickstart
	[ "$(head -n 1 "$ASKED")" = "sudo -v" ]
	[[ "$output" == *question* ]]
	! grep -q question "$there/build/quickstart.log"
}

@test "a sudo that refuses ends it with a message" {
	[ -n "$as_ann" ] || [ "$(id -u)" -ne 0 ] || skip "an ordinary user cannot reach $there"
	stub sudo 'exit 1'
	quickstart
	[ "$status" -eq 2 ]
	[[ "$output" == *"cannot install packages: sudo -v failed" ]]
}

@test "a build directory of another user is named" {
	[ -n "$as_ann" ] || skip "requires root, and that an ordinary user can reach $there"
	mkdir "$there/build"
	quickstart
	[ "$status" -eq 2 ]
	[[ "$output" == *"cannot write build/quickstart.log: build belongs to root. Remove build,"* ]]
	[ "${#lines[@]}" -eq 1 ]
	touch "$there/build/quickstart.log"	# one's own file in it does not help
	chmod a+w "$there/build/quickstart.log"
	quickstart
	[ "$status" -eq 2 ]
	[ "${#lines[@]}" -eq 1 ]
}

@test "without a usable directory for temporary files, there is one in build" {
	export TMPDIR=$dir/none
	quickstart
	[ "$status" -eq 7 ]
	[[ "$output" != *mktemp:* ]]
	ls "$there"/build/tmp/x.*
}

@test "make dist without xz ends with a message" {
	mkdir "$dir/dist"
	run env PATH="$dir/bin" "$(command -v make)" -s -C "$builddir" dist-hook \
		distdir="$dir/dist"
	echo "$output"
	[ "$status" -ne 0 ]
	[[ "$output" == *"make dist: xz not found; install xz-utils"* ]]
	[ ! -e "$dir/dist" ]
}
