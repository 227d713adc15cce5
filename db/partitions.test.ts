import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import type { Database } from '#db/client.ts';
import { reportHistory } from '#db/schema/index.ts';
import { testDatabase } from '#db/testing/database.ts';
import { longTest } from '#server/testing/long.ts';
import { dropPartitions, makePartitions } from './partitions.ts';

const dayMs = 24 * 60 * 60_000;
/** Midnight of the day on which the database was migrated. The tests may run after the next midnight. */
let today: number;
/** Returns noon of the day that is this many days after the migration. */
const day = (days: number): Date => new Date(today + (days + 0.5) * dayMs);
const nameOf = (days: number): string => `report_history_${day(days).toISOString().slice(0, 10).replaceAll('-', '')}`;

let db: Database;

beforeAll(async () => {
  db = await testDatabase();
  const [, year, month, date] = /^report_history_(\d{4})(\d\d)(\d\d)$/.exec((await tables())[0] ?? '') ?? [];
  today = Date.UTC(Number(year), Number(month) - 1, Number(date)) - dayMs;
});

async function withClient<Result>(work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
  const client = await db.$client.connect();
  try {
    return await work(client);
  } finally {
    client.release();
  }
}

const drop = (until: Date) => withClient((client) => dropPartitions(client, until));

async function report(at: Date): Promise<string> {
  const vmId = randomUUID();
  await db.insert(reportHistory).values({ vmId, at, kind: 'status', extension: 'probe', current: true, document: {} });
  const { rows } = await db.$client.query<{ place: string }>(
    'select tableoid::regclass::text as place from report_history where vm_id = $1',
    [vmId],
  );
  return rows[0]?.place ?? '';
}

async function tables(): Promise<string[]> {
  const { rows } = await db.$client.query<{ name: string }>(
    `select relname as name from pg_class where relkind = 'r' and relname like 'report\\_history\\_%' order by 1`,
  );
  return rows.map(({ name }) => name);
}

test('a migrated database has partitions up to a week ahead, and later partitions leave no gap', async () => {
  expect(await report(day(-1))).toBe('report_history_past');
  expect(await report(day(0))).toBe('report_history_past');
  expect(await report(day(1))).toBe(nameOf(1));
  expect(await report(day(7))).toBe(nameOf(7));
  expect(await withClient((client) => makePartitions(client, day(0)))).toBe(0);
  await expect(report(day(8))).rejects.toThrow();
  // No partitions are created for 20 days.
  expect(await withClient((client) => makePartitions(client, day(20)))).toBe(20);
  expect(await report(day(27))).toBe(nameOf(27));
});

test('old days are dropped, and recent days are kept', async () => {
  await report(day(2));
  expect(await drop(new Date(today + 2 * dayMs))).toBe(2);
  expect((await tables())[0]).toBe(nameOf(2));
  expect(await drop(day(2))).toBe(0);
  expect(await report(day(2))).toBe(nameOf(2));
});

longTest('a long-running reader blocks no other statement, and the day is dropped afterwards', async () => {
  await withClient(async (reader) => {
    await reader.query('begin');
    await reader.query('select count(*) from report_history');
    const began = performance.now();
    await expect(drop(day(3))).rejects.toMatchObject({ code: '55P03' });
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(await report(day(4))).toBe(nameOf(4));
    await reader.query('commit');
  });
  expect(await tables()).toContain(nameOf(2));
  expect(await drop(day(3))).toBe(1);
  expect(await tables()).not.toContain(nameOf(2));
});

test('a partition left by a crash during a drop is removed, but not a partition that an administrator detached', async () => {
  const [ours, theirs] = [nameOf(4), nameOf(5)];
  await db.$client.query(`comment on table ${ours} is 'to be dropped'`);
  await db.$client.query(`alter table report_history detach partition ${ours}`);
  await db.$client.query(`alter table report_history detach partition ${theirs}`);
  expect(await drop(day(2))).toBe(1);
  expect(await tables()).not.toContain(ours);
  expect(await tables()).toContain(theirs);
});
