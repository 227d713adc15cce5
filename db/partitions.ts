import type pg from 'pg';

/** The table that is partitioned by the day of `at`. */
const table = 'report_history';
/**
 * Number of days for which partitions exist in advance. If no partitions are created for longer than this, reports are
 * rejected.
 */
const daysAhead = 7;
const dayMs = 24 * 60 * 60_000;

/** Key of the advisory lock for creating and dropping partitions. The number is arbitrary. */
const lock = 4_266_399_004;
/**
 * Lock timeout. If a partition is still being read after this time, a later run drops it, so that the drop does not
 * block other statements for long.
 */
const lockTimeout = '2s';
/** Marks a partition that is being dropped, so that a later run can continue after a crash. */
const leaving = 'to be dropped';

/** Selects a table's partitions, whether each one's detach was interrupted, and the end of its time range. */
const partitions = `
  select c.relname as name, i.inhdetachpending as pending,
    (regexp_match(pg_get_expr(c.relpartbound, c.oid), 'TO \\(''([^'']+)''\\)'))[1]::timestamptz as before
  from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent = $1::regclass`;

/**
 * Creates partitions for today and the next days, so that every inserted row has a partition. New partitions follow the
 * last existing partition without a gap. There is no default partition: with one, PostgreSQL cannot detach
 * concurrently, and attaching a day would lock and scan the default partition. Older rows belong to the first
 * partition, whose range has no lower bound. Returns the number of created partitions.
 */
export async function makePartitions(client: pg.ClientBase, now: Date): Promise<number> {
  await client.query('begin');
  try {
    await client.query('select pg_advisory_xact_lock($1)', [lock]);
    const { rows } = await client.query<{ before: Date | null }>(
      `select max(before) as before from (${partitions}) p`,
      [table],
    );
    let made = 0;
    const today = new Date(Math.floor(now.getTime() / dayMs) * dayMs);
    const until = now.getTime() + daysAhead * dayMs;
    for (let day = rows[0]?.before ?? today; day.getTime() <= until; day = new Date(day.getTime() + dayMs)) {
      await attachDay(client, day);
      made += 1;
    }
    await client.query('commit');
    return made;
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

/** Creates a table and then attaches it as a partition, because creating the partition in place would block reports. */
async function attachDay(client: pg.ClientBase, day: Date): Promise<void> {
  const from = day.toISOString();
  const to = new Date(day.getTime() + dayMs).toISOString();
  const name = `${table}_${from.slice(0, 10).replaceAll('-', '')}`;
  await client.query(`create table ${name} (like ${table} including defaults including indexes)`);
  await client.query(`alter table ${table} attach partition ${name} for values from ('${from}') to ('${to}')`);
}

/**
 * Drops the partitions whose range ends by `until`, and any partition that an earlier call did not finish dropping.
 * Throws if a reader holds a partition for two seconds; the next call continues. The client must not be in a
 * transaction. Returns the number of dropped partitions.
 */
export async function dropPartitions(client: pg.ClientBase, until: Date): Promise<number> {
  await client.query('select pg_advisory_lock($1)', [lock]);
  try {
    await client.query(`set lock_timeout = '${lockTimeout}'`);
    return await dropBefore(client, until);
  } finally {
    await client.query('select pg_advisory_unlock($1)', [lock]);
    await client.query('reset lock_timeout');
  }
}

async function dropBefore(client: pg.ClientBase, until: Date): Promise<number> {
  const { rows } = await client.query<{ name: string; pending: boolean }>(
    `select name, pending from (${partitions}) p where pending or before <= $2 order by pending desc, before`,
    [table, until],
  );
  for (const { name, pending } of rows) {
    if (!pending) await client.query(`comment on table ${name} is '${leaving}'`);
    // PostgreSQL detaches only one partition at a time, so an interrupted detach is finished first.
    await client.query(`alter table ${table} detach partition ${name} ${pending ? 'finalize' : 'concurrently'}`);
  }
  const detached = await client.query<{ name: string }>(
    `select relname as name from pg_class
      where relkind = 'r' and not relispartition and relname like $1 || '\\_%' and relnamespace = current_schema::regnamespace
        and obj_description(oid, 'pg_class') = $2`,
    [table, leaving],
  );
  for (const { name } of detached.rows) await client.query(`drop table ${name}`);
  return detached.rows.length;
}
