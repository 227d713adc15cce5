import { readFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import type { Portal } from './portal.ts';

/**
 * Returns the process and the socket of a portal's embedded PostgreSQL. Throws while it is starting, because its pid
 * file may still be missing or empty.
 */
export function postmaster({ dataDir }: Portal): { pid: number; socket: string } {
  const lines = readFileSync(path.join(dataDir, 'postgres', 'data', 'postmaster.pid'), 'utf8').split('\n');
  const pid = Number(lines[0]);
  if (!(pid > 0)) throw new Error('PostgreSQL is starting: its file of the process id is empty.');
  return { pid, socket: lines[4] ?? '' };
}

/** Calls a function with a separate connection to a portal's database, as its owner. */
export async function withDatabase<T>(portal: Portal, run: (client: pg.Client) => Promise<T>): Promise<T> {
  const password = readFileSync(path.join(portal.dataDir, 'postgres', 'password'), 'utf8').trim();
  const { socket } = postmaster(portal);
  const client = new pg.Client({ host: socket, user: 'postgres', password, database: 'annex' });
  await client.connect();
  try {
    return await run(client);
  } finally {
    await client.end();
  }
}

/** Returns the rows of every table as text, with table and column names, like a dump. */
export async function dumpDatabase(portal: Portal): Promise<{ table: string; text: string }[]> {
  return withDatabase(portal, async (client) => {
    const { rows: tables } = await client.query<{ name: string }>(
      `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
        where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
    );
    const dump: { table: string; text: string }[] = [];
    for (const { name } of tables) {
      const { rows } = await client.query<{ row: string }>(`select to_jsonb(t)::text as row from ${name} t`);
      dump.push({ table: name, text: rows.map(({ row }) => row).join('\n') });
    }
    return dump;
  });
}
