# SPDX-License-Identifier: LGPL-2.1-or-later
# Write tables of errors and signals from the macros of errno.h and signal.h, which
# "cc -E -dM" lists.  Macros whose value is another one are second names.
# Each table is left out where the C library has the function that needs it.
$1 == "#define" && NF == 3 && $2 ~ /^E[A-Z0-9]+$/ && $3 ~ /^[0-9]+$/ {
	errors = errors "\t{ " $2 ", \"" $2 "\" },\n"
}
# SIGIO is the other name of SIGPOLL, and SIGSTKSZ a size
$1 == "#define" && NF == 3 && $2 ~ /^SIG[A-Z0-9]+$/ && $2 !~ /^(SIGIO|SIGSTKSZ|SIGRTMIN|SIGRTMAX)$/ &&
$3 ~ /^[0-9]+$/ {
	signals = signals "\t{ " $2 ", \"" substr($2, 4) "\" },\n"
}
END {
	type = "static const struct {\n\tint number;\n\tconst char *name;\n} "
	print "#ifndef HAVE_STRERRORNAME_NP\n" type "errors[] = {\n" errors "};\n#endif"
	print "#ifndef HAVE_SIGABBREV_NP\n" type "signals[] = {\n" signals "};\n#endif"
}
