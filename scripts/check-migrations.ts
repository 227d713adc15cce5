import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { generateDrizzleJson } from 'drizzle-kit/api';
import * as schema from '#db/schema/index.ts';

// Compares the schema with the last migration's snapshot, because a schema change without a migration does not reach
// the database.
const folder = path.resolve(import.meta.dirname, '../db/migrations');
const last = readdirSync(path.join(folder, 'meta'))
  .filter((file) => file.endsWith('_snapshot.json'))
  .sort()
  .at(-1);

if (last === undefined) throw new Error('db/migrations/meta holds no snapshot');
const migrated = JSON.parse(readFileSync(path.join(folder, 'meta', last), 'utf8')) as { tables: object };
const declared = JSON.parse(JSON.stringify(generateDrizzleJson(schema))) as { tables: object };

/** Returns the names of the parts of the snapshot that differ; each table is a part. */
function differences(): string[] {
  const parts = (snapshot: object): Record<string, unknown> => {
    const { id, prevId, _meta, tables, ...rest } = snapshot as Record<string, unknown>;
    return { ...rest, ...(tables as object) };
  };
  const before = parts(migrated);
  const now = parts(declared);
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].filter(
    (part) => !isDeepStrictEqual(before[part], now[part]),
  );
}

const drifted = differences();
if (drifted.length > 0) {
  console.log(`Not in a migration yet (npm run db:generate): ${drifted.join(', ')}`);
  process.exitCode = 1;
}
