# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes C of the lessons: -v out=DIR, the .lesson files in their order.
# lessons/README.md tells of the form.

function fail(message) {
	printf "%s:%d: %s\n", FILENAME, FNR, message >"/dev/stderr"
	failed = 1
	exit 1
}

# A C string literal, letter by letter: awks differ in what sub() makes of "\\".
function quote(s,    i, c, t) {
	for (i = 1; i <= length(s); i++) {
		c = substr(s, i, 1)
		t = t (c == "\"" || c == "\\" ? "\\" c : c == "\n" ? "\\n" : c == "\t" ? "\\t" : c)
	}
	return "\"" t "\""
}

function or_null(s) {
	return s == "" ? "NULL" : quote(s)
}

function experiment(name) {
	if (name !~ /^[a-z][a-z0-9_]*$/)
		fail("'" name "' is no name of an experiment")
	name = "learn_" identifier "_" name
	if (!(name in declared)) {
		declared[name] = 1
		print "bool " name "(struct learn *l);" >header
	}
	return name
}

function item(kind, rest) {
	items = items "\t{ .kind = LESSON_" kind ", .when = " or_null(when) rest " },\n"
}

# What was collected so far becomes an item.
function flush_text() {
	if (collecting == "ask") {
		if (ask["answer"] == "" || ask["hint"] == "" || ask["told"] == "")
			fail("the question before this needs %answer, %hint and %told")
		item("ASK", ", .text = " quote(ask["ask"]) ", .answer = " quote(ask["answer"]) \
			", .hint = " quote(ask["hint"]) ", .told = " quote(ask["told"]))
	} else if (text != "") {
		item(block ? "BLOCK" : "TEXT", ", .text = " quote(text))
	}
	text = collecting = ""
	block = 0
}

function finish_lesson() {
	flush_text()
	if (lesson == "")
		return
	if (title == "" || summary == "" || man == "" || !steps || !tries)
		fail("lesson " lesson " needs %title, %summary, %man, %step and %try")
	print "static const struct lesson_item items_" identifier "[] = {\n" items "};\n" >source
	list = list "\t{\n\t\t.name = " quote(lesson) ", .title = " quote(title) \
		",\n\t\t.summary = " quote(summary) ", .needs = " or_null(needs) \
		",\n\t\t.man = " quote(man) ", .items = items_" identifier \
		",\n\t\t.n = sizeof(items_" identifier ") / sizeof(*items_" identifier "),\n\t},\n"
}

BEGIN {
	source = out "/lessons.c"
	header = out "/lessons.h"
	print "/* Made by lessons/gen.awk: do not edit. */" >source
	print "/* Made by lessons/gen.awk: do not edit. */" >header
	print "#ifndef PEVTRACE_LESSONS_H\n#define PEVTRACE_LESSONS_H\n" >header
	print "#include \"learn/lesson.h\"\n" >header
	print "#include \"lessons/lessons.h\"\n" >source
}

FNR == 1 {
	finish_lesson()
	lesson = title = summary = needs = man = items = when = ""
	steps = tries = 0
}

/^#/ { next }

/^%/ {
	word = substr($1, 2)
	rest = $0
	sub(/^%[a-z]+[ \t]*/, "", rest)
	if (word == "answer" || word == "hint" || word == "told") {
		if (collecting != "ask")
			fail("%" word " belongs to an %ask")
		ask[word] = rest
		part = word
		next
	}
	flush_text()
	if (word == "lesson") {
		lesson = identifier = rest
		gsub(/-/, "_", identifier)
	} else if (word == "title")
		title = rest
	else if (word == "summary")
		summary = rest
	else if (word == "needs")
		needs = rest
	else if (word == "man")
		man = rest
	else if (word == "step") {
		when = ""
		steps++
		item("STEP", ", .text = " quote(rest))
	} else if (word == "try") {
		when = ""
		tries++
		item("TRY", "")
	} else if (word == "do" || word == "hold")
		item(word == "do" ? "DO" : "HOLD", ", .run = " experiment(rest))
	else if (word == "show")
		item("SHOW", "")
	else if (word == "when")
		when = rest
	else if (word == "unless")
		when = "!" rest
	else if (word == "always")
		when = ""
	else if (word == "ask") {
		collecting = "ask"
		part = "ask"
		ask["ask"] = rest
		ask["answer"] = ask["hint"] = ask["told"] = ""
	} else
		fail("unknown %" word)
	next
}

collecting == "ask" {
	if ($0 != "")
		ask[part] = ask[part] " " $0
	next
}

/^$/ { flush_text(); next }

/^\t/ {
	if (!block)
		flush_text()
	block = 1
	text = text (text == "" ? "" : "\n") substr($0, 2)
	next
}

{
	if (block)
		flush_text()
	text = text (text == "" ? "" : " ") $0
}

END {
	if (failed)
		exit 1
	finish_lesson()
	print "\n#endif" >header
	print "const struct lesson lessons[] = {\n" list "};\n" >source
	print "const size_t nlessons = sizeof(lessons) / sizeof(*lessons);" >source
}
