import { setTimeout as delay } from 'node:timers/promises';
import type { OpenServices } from '#server/process/services.ts';
import { runs } from './fleet.ts';

/** Length of a round, in which every agent calls once. The calls are spread over equal parts of the round. */
const roundSeconds = 300;
const parts = 50;

/**
 * Calls on behalf of the seeded agents until stopped: every five minutes, each agent calls and reports its files.
 * Silent agents stay silent. If an agent was late, schedules an evaluation of its VM by the worker.
 */
export async function keepAlive({ db }: OpenServices, signal: AbortSignal): Promise<void> {
  const { rows } = await db.$client.query<{ vm_id: string }>(
    'select vm_id from agent_presence where run = $1 order by vm_id',
    [runs.alive],
  );
  const ids = rows.map((row) => row.vm_id);
  // The first round has no pauses, because the agents may have last called long ago.
  for (let turn = 0; !signal.aborted; turn++) {
    const started = Date.now();
    await hear(
      db.$client,
      ids.filter((_, index) => index % parts === turn % parts),
    );
    const pause = turn < parts ? 0 : (roundSeconds * 1_000) / parts - (Date.now() - started);
    await delay(Math.max(pause, 10), undefined, { signal }).catch(() => {});
  }
}

async function hear(pool: OpenServices['db']['$client'], vmIds: readonly string[]): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const { rows } = await client.query<{ vm_id: string }>(
      `with before as (select vm_id, next_expected_at from agent_presence where vm_id = any($1::uuid[])),
       heard as (
         update agent_presence set last_seen_at = now(), next_expected_at = now() + interval '10 minutes'
          where vm_id = any($1::uuid[])
       )
       select vm_id from before where next_expected_at + interval '30 seconds' < now() order by vm_id`,
      [vmIds],
    );
    // A file that is not modified grows older, even if it is read again.
    await client.query(
      `update extension_pulse set heartbeat_read_at = now(), heartbeat_age_seconds =
           case when heartbeat_age_seconds > 60
             then heartbeat_age_seconds + extract(epoch from now() - heartbeat_read_at) else heartbeat_age_seconds end
        where vm_id = any($1::uuid[]) and heartbeat_read_at is not null`,
      [vmIds],
    );
    await client.query(
      `update extension_pulse set status_read_at = now()
        where vm_id = any($1::uuid[]) and status_word in ('warning', 'transitioning')`,
      [vmIds],
    );
    await client.query(
      `insert into health_checks (vm_id, due_at) select k, 'epoch' from unnest($1::uuid[]) k order by k
       on conflict (vm_id) do update set due_at = excluded.due_at`,
      [rows.map((row) => row.vm_id)],
    );
    await client.query('commit');
    client.release();
  } catch (error) {
    client.release(true);
    throw error;
  }
}
