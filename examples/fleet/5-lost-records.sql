-- Who loses records: LOST in a ring, and what pevtrace itself did not see?
SELECT l.host, coalesce(o.program, '?') AS program, o.event_name,
       sum(CASE WHEN l.record->>'type_name' IN ('PERF_RECORD_LOST', 'PERF_RECORD_LOST_SAMPLES')
		THEN (l.record->>'lost')::UBIGINT ELSE 0 END) AS lost,
       sum(coalesce(l.missed, 0)) AS bytes_not_seen
FROM lines l LEFT JOIN opens o ON o.filename = l.filename AND o.event = l.event
WHERE l.kind IN ('record', 'look')
GROUP BY ALL HAVING lost > 0 OR bytes_not_seen > 0 ORDER BY lost DESC, program, event_name;
