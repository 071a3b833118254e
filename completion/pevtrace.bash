# SPDX-License-Identifier: LGPL-2.1-or-later
# Completion for bash: asks pevtrace, whose tables have all verbs, options and names.
_pevtrace()
{
	local line=${COMP_LINE:0:COMP_POINT} program=${COMP_WORDS[0]/#\~/$HOME}
	local words cur head kept='' name help

	# bash splits words at = and :, too; only blanks without \ separate what pevtrace sees
	# shellcheck disable=SC2162
	IFS=$' \t' read -a words <<<"$line"
	[[ $line != *[^\\][[:blank:]] ]] || words+=('')
	cur=${words[${#words[@]} - 1]}
	# the part of the word that bash keeps
	for head in '=' ':'; do
		if [[ $COMP_WORDBREAKS == *"$head"* && $cur == *"$head"* ]]; then
			head=${cur%"$head"*}$head
			[ ${#head} -le ${#kept} ] || kept=$head
		fi
	done
	COMPREPLY=()
	while IFS=$'\t' read -r name help; do
		case $name in
		:file | :directory)
			[ "$name" = :file ] && name=-f || name=-d
			head=$help
			compopt -o filenames 2>/dev/null
			while IFS= read -r name; do
				COMPREPLY+=("${head#"$kept"}$name")
			done < <(compgen "$name" -- "${cur#"$head"}")
			;;
		':command '*)
			head=${name#:command }
			if [ "$head" -lt $((${#words[@]} - 2)) ] && declare -F _command_offset >/dev/null; then
				_command_offset $((COMP_CWORD - ${#words[@]} + 2 + head))
				return
			fi
			compopt -o filenames 2>/dev/null
			if [ "$head" -eq $((${#words[@]} - 2)) ]; then name=-c; else name=-f; fi
			while IFS= read -r name; do
				COMPREPLY+=("${name#"$kept"}")
			done < <(compgen "$name" -- "$cur")
			;;
		*)
			# a word that ends so goes on
			[[ $name != *[=:/,] ]] || compopt -o nospace 2>/dev/null
			COMPREPLY+=("${name#"$kept"}")
			;;
		esac
	done < <("$program" help --complete -- "${words[@]:1}" 2>/dev/null)
}
complete -F _pevtrace pevtrace
