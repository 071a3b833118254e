-- Which programs fall back: an open is refused, and the task's next one succeeds?
WITH next AS (
	SELECT *, lead(name) OVER w AS then_name, lead(errno) OVER w AS then_errno,
	       lead(line) OVER w AS then_line
	FROM opens WINDOW w AS (PARTITION BY filename, tid ORDER BY line)
)
SELECT program, name AS refused, error, then_name AS opened, count(*) AS times,
       count(DISTINCT host) AS hosts
FROM next WHERE errno IS NOT NULL AND then_line IS NOT NULL AND then_errno IS NULL
GROUP BY ALL ORDER BY times DESC, program, refused, opened;
