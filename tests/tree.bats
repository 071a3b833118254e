#!/usr/bin/env bats
# The source tree: lists in Makefile.am are complete, scripts and pages pass their linters.

# Return whether each of these files is in Makefile.am, C programs without their ".c".
listed() {
	local file missing=0
	for file in "$@"; do
		[ -e "$file" ] || continue
		case $file in
		tests/unit/*.c | tests/targets/*.c | tests/fuzz/fuzz_*.c | bench/*.c) file=${file%.c} ;;
		esac
		grep -qE "(^|[[:blank:]])${file//./\\.}([[:blank:]]|\$)" Makefile.am || {
			echo "not in Makefile.am: $file"
			missing=1
		}
	done
	[ "$missing" -eq 0 ]
}

setup() {
	cd "$srcdir" || return
}

@test "every source, description and test is listed in Makefile.am" {
	listed src/*.c src/*/*.[ch] src/*/*/*.[ch] src/*/*/*/*.[ch] xlat/*.in src/{conform,explain}/*.in \
		src/formats/codegen/parts.* xlat/*.awk lessons/* tests/*.* tests/lib/*.* tests/golden/* \
		tests/targets/*.[ch] tests/unit/*.[ch] tests/fuzz/*.[ch] tests/fault/*.c tests/handicap/*.c tests/kernels/* bench/*.c
}

@test "code for one processor is in folders named arch" {
	run grep -rnE '__(x86_64|i386|ILP32|aarch64|arm|riscv|riscv_xlen|powerpc64|s390x|mips|sparc|loongarch)__' \
		src --include='*.[ch]' --exclude-dir=arch
	echo "$output"
	[ -z "$output" ]
	run grep -rnE '__riscv|__x86_64__' src/core/abi/arch src/engine/ptrace/arch
	[ "${#lines[@]}" -ge 5 ]
}

@test "scripts pass shellcheck" {
	command -v shellcheck >/dev/null || skip "shellcheck is not installed"
	shellcheck completion/pevtrace.bash quickstart autogen.sh tools/release tools/check-commits .ci/analyse .ci/run tests/fuzz/run bench/run bench/loss bench/*.sh \
		src/formats/report/embed.sh
}

@test "texts pass codespell" {
	command -v codespell >/dev/null || skip "codespell is not installed"
	codespell README.md CONTRIBUTING.md NEWS SECURITY.md doc/*.md tests/README.md lessons man src xlat examples
}

@test "each directory of src has a README" {
	while read -r dir; do
		echo "$dir"
		[ -e "$dir/README.md" ] || [ "${dir##*/}" = arch ]
	done < <(find src -mindepth 1 -type d)
}

@test "the pages pass mandoc -Tlint" {
	command -v mandoc >/dev/null || skip "mandoc is not installed"
	run mandoc -Tlint man/*.[135] "$builddir/man/pevtrace-json.5"
	echo "$output"
	[ -z "$output" ]
}

@test "relative links of installed documents lead to installed documents" {
	files=$(sed -n -e 's/^dist_doc_DATA = //p' -e 's/^dist_docdoc_DATA = //p' \
		-e 's/^dist_gallery_DATA = //p' \
		-e 's|^examplesdir = \$(docdir)/\(.*\)|\1/|p' Makefile.am)
	[ "$(echo "$files" | wc -w)" -gt 8 ]
	for file in $files; do
		for link in $(grep -oE '\]\([^)#]+' "$file" | sed 's/..//' | grep -v '^https:'); do
			case $file in doc/*) link=$(realpath -m --relative-to=. "doc/$link") ;; esac
			echo "$file: $link"
			[[ " ${files//$'\n'/ } " == *" $link "* ]]
		done
	done
}

@test "NEWS and the packages name the version of configure.ac" {
	version=$(sed -n 's/^AC_INIT(\[pevtrace\], \[\(.*\)\])$/\1/p' configure.ac)
	[ -n "$version" ]
	grep -qE "^pevtrace ${version//./\.} \(" NEWS
	grep -qE "^Version: +${version//./\.}\$" packaging/rpm/pevtrace.spec
	grep -q "^pkgver=${version//./\.}\$" packaging/alpine/APKBUILD
	# not in tarballs
	[ ! -e debian/changelog ] || head -n 1 debian/changelog | grep -q "^pevtrace (${version//./\.}-"
}

@test "README is a link to README.md" {
	[ "$(readlink README)" = README.md ] || cmp README README.md
}

@test "comments and READMEs of src name files that exist" {
	run python3 -B tests/lib/names_of_files.py
	echo "$output"
	[ -z "$output" ]
}

@test "late-libraries is linked from each file that loads a library" {
	files=$(sed -n 's/.*\$\$(\(grep .*late\.h.*\)) \$(LATE_LIBS)/\1/p' Makefile.am)
	[ -n "$files" ]
	[ "$(sh -c "${files//\$(srcdir)/.}" | wc -l)" -eq \
		"$(grep -r --include='*.c' -l '^#include "core/lib/late.h"' src | wc -l)" ]
}
