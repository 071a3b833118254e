-- Who leaves events open: opened, no close, and the task ended?
SELECT o.program, o.name, count(*) AS left_open, count(DISTINCT o.host) AS hosts
FROM opens o
WHERE o.errno IS NULL AND o.event IS NOT NULL
  AND EXISTS (SELECT 1 FROM lines g
	      WHERE g.filename = o.filename AND g.kind = 'gone' AND g.tid = o.tid)
  AND NOT EXISTS (SELECT 1 FROM lines c
		  WHERE c.filename = o.filename AND c.event = o.event AND c.call = 'close')
GROUP BY ALL ORDER BY left_open DESC, program, name;
