#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Print the SQL that makes a table of pevtrace dumps, from the schema of their lines.

usage: columns.py SCHEMA DUMPS MACHINES	for DuckDB, with two patterns of files: HOST/NAME.jsonl
       columns.py SCHEMA		for ClickHouse

A type never depends on a sample: what is an object, a list, or of another type on another kind of
line is JSON, whose members the queries name.
"""

import json
import sys

TYPES = {	# of a column: in DuckDB, in ClickHouse
	"text": ("VARCHAR", "String"), "flag": ("BOOLEAN", "Bool"),
	"unsigned": ("UBIGINT", "UInt64"), "signed": ("BIGINT", "Int64"),
	"tree": ("JSON", "String"),
}

DUCKDB = """CREATE TABLE lines AS
	SELECT *, parse_path(filename)[-2] AS host, row_number() OVER () AS line
	FROM read_json(%s, format='newline_delimited', filename=true, maximum_object_size=67108864,
		       columns={%s});
CREATE TABLE machines AS
	SELECT parse_path(filename)[-2] AS host, paranoid
	FROM read_json(%s, format='newline_delimited', filename=true,
		       columns={kind: 'VARCHAR', paranoid: 'BIGINT'})
	WHERE kind = 'here';
"""

CLICKHOUSE = """CREATE TABLE lines
(
	host LowCardinality(String),
	day Date,
	filename LowCardinality(String),
	line UInt64,
%s
)
ENGINE = MergeTree
PARTITION BY day
ORDER BY (host, filename, line)
TTL day + INTERVAL 90 DAY;
"""

def resolve(schema, part):
	while "$ref" in part:
		part = schema["definitions"][part["$ref"].rsplit("/", 1)[1]]
	return part

def column_type(schema, part):
	"""Return the key in TYPES of a member's schema."""
	part = resolve(schema, part)
	kinds = {type(v) for v in part.get("enum", [part["const"]] if "const" in part else [])}
	kind = part.get("type")
	if len(kinds) == 1:
		kind = {str: "string", bool: "boolean"}.get(*kinds)
	if kind == "integer":
		return "signed" if part.get("minimum", -1) < 0 else "unsigned"
	return "text" if kind == "string" else "flag" if kind == "boolean" else "tree"

def members(schema, part):
	part = resolve(schema, part)
	yield from part.get("properties", {}).items()
	for word in ("allOf", "anyOf", "oneOf"):
		for p in part.get(word, []):
			yield from members(schema, p)

def columns(schema):
	"""Return the type of each member of any kind of line, by name."""
	found = {}
	for case in schema["allOf"]:
		for name, part in members(schema, case["then"]):
			t = column_type(schema, part)
			was = found.setdefault(name, t)
			if was != t:
				found[name] = "signed" if {was, t} == {"signed", "unsigned"} else "tree"
	return found

def quoted(text):
	return "'%s'" % text.replace("'", "''")

def main():
	if len(sys.argv) not in (2, 4) or sys.argv[1].startswith("-"):
		sys.exit(__doc__.split("\n\n")[1])
	with open(sys.argv[1], encoding="utf-8") as f:
		found = columns(json.load(f))
	if len(sys.argv) == 2:
		print(CLICKHOUSE % ",\n".join(
			"\t%s %s" % (n, TYPES[t][1]) for n, t in found.items()), end="")
	else:
		print(DUCKDB % (quoted(sys.argv[2]), ", ".join(
			'"%s": \'%s\'' % (n, TYPES[t][0]) for n, t in found.items()),
			quoted(sys.argv[3])), end="")

main()
