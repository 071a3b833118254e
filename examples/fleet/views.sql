-- SPDX-License-Identifier: LGPL-2.1-or-later
-- What the questions ask about, from the lines of dumps (columns.py) and the files of machines.

CREATE VIEW headers AS
	SELECT filename, kernel->>'release' AS release, arch,
	       started::TIMESTAMP AS started
	FROM lines WHERE kind = 'header';

-- The name of a task is the one that it had last: an exec changes it.
CREATE VIEW programs AS
	SELECT filename, tid, arg_max(comm, line) AS program
	FROM lines WHERE kind = 'comm' GROUP BY filename, tid;

-- An open is one line; if it took long, its return is another one, and its attr is on the first.
CREATE VIEW returns AS
	SELECT filename, host, line, tid, event, event_name, errno, error->>'$' AS error,
	       args->'attr_uptr' AS attr
	FROM lines WHERE kind = 'call' AND call = 'perf_event_open'
	UNION ALL
	SELECT x.filename, x.host, x.line, x.tid, x.event, x.event_name, x.errno, x.error->>'$',
	       e.args->'attr_uptr'
	FROM (SELECT * FROM lines WHERE kind = 'exit' AND call = 'perf_event_open') x
	ASOF JOIN (SELECT * FROM lines WHERE kind = 'enter' AND call = 'perf_event_open') e
	ON x.filename = e.filename AND x.tid = e.tid AND x.line >= e.line;

-- name: of the event, without the CPU and the number that tell events of one name apart
CREATE VIEW opens AS
	SELECT r.*, h.release, h.started, coalesce(p.program, '?') AS program,
	       coalesce(attr->>'config_name',
			regexp_replace(event_name, '( cpu[0-9]+)?( #[0-9]+)?$', ''),
			concat(attr->>'type', '/', attr->>'config')) AS name,
	       coalesce(attr->>'type_name', attr->>'type') AS pmu
	FROM returns r
	JOIN headers h USING (filename)
	LEFT JOIN programs p ON p.filename = r.filename AND p.tid = r.tid;
