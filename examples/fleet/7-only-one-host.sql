-- Which attrs does only one host use?
SELECT any_value(host) AS host, any_value(program) AS program, name, attr, count(*) AS opens
FROM opens WHERE attr IS NOT NULL
GROUP BY name, attr HAVING count(DISTINCT host) = 1
ORDER BY opens DESC, name, attr::VARCHAR;
