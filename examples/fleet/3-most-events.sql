-- Who opens most events?
SELECT program, count(*) AS opened, count(DISTINCT (filename, tid)) AS tasks,
       count(DISTINCT host) AS hosts
FROM opens WHERE errno IS NULL
GROUP BY ALL ORDER BY opened DESC, program;
