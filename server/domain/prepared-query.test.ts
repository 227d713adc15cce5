import { expect, test } from 'vitest';
import type { Database } from '#db/client.ts';
import { ProcessMemory } from '#server/platform/process-memory.ts';
import { preparedQuery } from './prepared-query.ts';

test('a query is built once per process and database, so no process runs it on the database of another', () => {
  const query = preparedQuery((db) => ({ db }));
  const [one, other] = [{}, {}] as [Database, Database];
  const memory = new ProcessMemory();
  const built = query({ db: one, memory });
  expect(built.db).toBe(one);
  expect(query({ db: one, memory })).toBe(built);
  expect(query({ db: other, memory }).db).toBe(other);
  const elsewhere = query({ db: one, memory: new ProcessMemory() });
  expect(elsewhere.db).toBe(one);
  expect(elsewhere).not.toBe(built);
});
