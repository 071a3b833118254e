-- What changed in the last week: opens that the week before did not have, or no longer has?
WITH weeks AS (
	SELECT program, name, coalesce(error, 'opened') AS result,
	       count(*) FILTER (started > latest - INTERVAL 7 DAY) AS this_week,
	       count(*) FILTER (started <= latest - INTERVAL 7 DAY AND
				started > latest - INTERVAL 14 DAY) AS last_week
	FROM opens, (SELECT max(started) AS latest FROM headers)
	GROUP BY ALL
)
SELECT * FROM weeks WHERE (this_week = 0) <> (last_week = 0) ORDER BY program, name, result;
