-- Which programs are refused what?
SELECT program, name, error, count(*) AS refusals, count(DISTINCT host) AS hosts
FROM opens WHERE errno IS NOT NULL
GROUP BY ALL ORDER BY refusals DESC, program, name, error;
