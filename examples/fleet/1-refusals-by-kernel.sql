-- Which opens are refused, on which kernels, at which paranoid level?
SELECT release, paranoid, pmu, error, count(*) AS refusals, count(DISTINCT host) AS hosts
FROM opens LEFT JOIN machines USING (host)
WHERE errno IS NOT NULL
GROUP BY ALL ORDER BY refusals DESC, release, pmu, error;
