// SPDX-License-Identifier: LGPL-2.1-or-later
// Run files of SQL in DuckDB, in one session; print the rows of each as one line of JSON.
//
// usage: node duckdb.mjs DUCKDB FILE...
// DUCKDB: node_modules/@duckdb/node-api

import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const [duckdb, ...files] = process.argv.slice(2);
const { DuckDBInstance } = createRequire(import.meta.url)(duckdb);
const connection = await (await DuckDBInstance.create()).connect();
for (const file of files) {
	const reader = await connection.runAndReadAll(readFileSync(file, 'utf8'));
	console.log(JSON.stringify(reader.getRowObjectsJson()));
}
process.exit(0);
