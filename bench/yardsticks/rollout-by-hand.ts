import type pg from 'pg';
import { extensionNames } from '../load/agents.ts';

/** The columns of `rollout_steps` that a step has when it begins. */
const stepColumns = `vm_id, rollout_id, ring, place, kind, state, attempt, touched, before_incarnation, incarnation,
  was_healthy, published_at, due_at, updated_at`;

/** Creates copies of the tables that only rollouts write, so that no worker sees the rows of the baseline. */
export async function prepareByHand(client: pg.Pool): Promise<void> {
  await client.query('create schema if not exists yardstick');
  for (const table of ['rollout_members', 'rollout_steps', 'rollout_rings']) {
    await client.query(`create table if not exists yardstick.${table} (like ${table} including all)`);
  }
}

/** The VMs that a change of settings would change, in the order of a rollout, as rows of 4,096 members in four rings. */
const plan = `
  insert into yardstick.rollout_members (rollout_id, ring, first, low, high, vm_ids, kinds)
  select $1::uuid, ring, n / 4096, min(hash), max(hash), array_agg(id order by hash),
    convert_to(string_agg('s', ''), 'LATIN1')
  from (
    select id, hash, width_bucket(n::float8 / total, array[0.01, 0.1, 0.5]) as ring, n
    from (
      select v.id, k.hash, row_number() over (order by k.hash) - 1 as n, count(*) over () as total
      from vms v cross join lateral (select md5($1::uuid || '/' || v.id) as hash) k
      where v.deleted_at is null and v.decommissioning_at is null and exists (
        select from extensions e where e.vm_id = v.id and e.handler = $2
          and (e.public_settings::jsonb || $3::jsonb) <> e.public_settings::jsonb)
    ) ordered
  ) placed
  group by ring, n / 4096`;

/** Makes the members of a rollout with one statement: the same match, hash order and rows. Returns the seconds. */
export async function planByHand(
  pool: pg.Pool,
  { handler, settings }: { handler: string; settings: Record<string, unknown> },
): Promise<number> {
  const client = await pool.connect();
  try {
    await client.query('truncate yardstick.rollout_members');
    const began = performance.now();
    await client.query('begin');
    // The engine plans with these settings too.
    await client.query('set local max_parallel_workers_per_gather = 0');
    await client.query(plan, ['0193fb7c-0000-7000-8000-000000000000', handler, JSON.stringify(settings)]);
    await client.query('commit');
    return (performance.now() - began) / 1_000;
  } finally {
    client.release();
  }
}

/** A VM's current goal state, from which the baseline makes the next one. */
interface Current {
  vm_id: string;
  incarnation: number;
  turn: string;
  text: string;
  contents: string;
  sequence_number: string;
}

/** Reads what the baseline publishes, outside of the measurement. */
async function currentOf(client: pg.Pool, vmIds: readonly string[]): Promise<Current[]> {
  const { rows } = await client.query<Current>(
    `select h.vm_id, h.incarnation, greatest(h.turn, h.incarnation) as turn, h.text, e.sequence_number,
       (select json_agg(json_build_object('name', o.name, 'handler', o.handler, 'version', o.version,
          'requestedVersion', o.requested_version, 'state', o.state, 'timeouts', o.timeouts,
          'autoUpgradeMinorVersion', o.auto_upgrade_minor_version, 'secretId', o.secret_id,
          'dependsOn', o.depends_on, 'publicSettings', o.public_settings, 'sequenceNumber', o.sequence_number))::text
         from extensions o where o.vm_id = h.vm_id) as contents
     from goal_state_heads h join extensions e on e.vm_id = h.vm_id and e.name = $2
     where h.vm_id = any($1::uuid[]) order by h.vm_id`,
    [vmIds, extensionNames.silent],
  );
  return rows;
}

/** The rows that one batch of a rollout writes, each with one statement for all VMs. */
const statements: readonly [text: string, params: readonly (keyof Columns)[]][] = [
  [
    `update extensions e set public_settings = r.settings::json, sequence_number = r.sequence, changed_at = now()
      from unnest($1::uuid[], $2::text[], $3::bigint[]) as r(vm_id, settings, sequence)
     where e.vm_id = r.vm_id and e.name = '${extensionNames.silent}'`,
    ['vmIds', 'settings', 'sequences'],
  ],
  [
    `update extension_sequences q set highest = r.sequence
      from unnest($1::uuid[], $2::bigint[]) as r(vm_id, sequence)
     where q.vm_id = r.vm_id and q.name = '${extensionNames.silent}'`,
    ['vmIds', 'sequences'],
  ],
  [
    `insert into goal_states (vm_id, incarnation, etag, text, contents, cause, published_at, published_by)
     select r.vm_id, r.incarnation, '"by hand.' || r.incarnation || '"', r.text, r.contents::json,
       '{"action":"rollout.step"}', now(), 'Bench'
     from unnest($1::uuid[], $2::int[], $3::text[], $4::text[]) as r(vm_id, incarnation, text, contents)`,
    ['vmIds', 'incarnations', 'texts', 'contents'],
  ],
  [
    `update goal_state_heads h set incarnation = r.incarnation, turn = r.turn, text = r.text,
       etag = '"by hand.' || r.incarnation || '"', published_at = now()
      from unnest($1::uuid[], $2::int[], $3::bigint[], $4::text[]) as r(vm_id, incarnation, turn, text)
     where h.vm_id = r.vm_id`,
    ['vmIds', 'incarnations', 'turns', 'texts'],
  ],
  [
    `insert into yardstick.rollout_steps (${stepColumns})
     select r.vm_id, '0193fb7c-0000-7000-8000-000000000000', 0, r.place, 3, 'inFlight', 1,
       json_build_array(json_build_object('name', '${extensionNames.silent}', 'sequenceNumber', r.sequence)),
       r.incarnation - 1, r.incarnation, true, now(), now() + interval '300 seconds', now()
     from unnest($1::uuid[], $2::int[], $3::bigint[]) with ordinality as r(vm_id, incarnation, sequence, place)`,
    ['vmIds', 'incarnations', 'sequences'],
  ],
  [
    `insert into health_checks (vm_id, due_at) select k, 'epoch' from unnest($1::uuid[]) k
     on conflict (vm_id) do update set due_at = excluded.due_at`,
    ['vmIds'],
  ],
  [`select pg_notify('yardstick_goal_states', k::text) from unnest($1::uuid[]) k`, ['vmIds']],
];

interface Columns {
  vmIds: string[];
  settings: string[];
  sequences: number[];
  incarnations: number[];
  turns: number[];
  texts: string[];
  contents: string[];
}

function columnsOf(rows: readonly Current[], settings: string): Columns {
  return {
    vmIds: rows.map((row) => row.vm_id),
    settings: rows.map(() => settings),
    sequences: rows.map((row) => Number(row.sequence_number) + 1),
    incarnations: rows.map((row) => row.incarnation + 1),
    turns: rows.map((row) => Number(row.turn) + 1),
    texts: rows.map((row) => row.text),
    contents: rows.map((row) => row.contents),
  };
}

/** Publishes goal states of these VMs in batches, with one statement per table. Returns VMs per second. */
export async function publishByHand(pool: pg.Pool, vmIds: readonly string[], batch: number): Promise<number> {
  await pool.query('truncate yardstick.rollout_steps');
  const settings = JSON.stringify({ retain: Date.now() });
  let seconds = 0;
  for (let from = 0; from < vmIds.length; from += batch) {
    const columns = columnsOf(await currentOf(pool, vmIds.slice(from, from + batch)), settings);
    const began = performance.now();
    const client = await pool.connect();
    try {
      await client.query('begin');
      await client.query('select from goal_state_heads where vm_id = any($1::uuid[]) order by vm_id for update', [
        columns.vmIds,
      ]);
      for (const [text, params] of statements) {
        await client.query(
          text,
          params.map((name) => columns[name]),
        );
      }
      await client.query('commit');
    } finally {
      client.release();
    }
    seconds += (performance.now() - began) / 1_000;
  }
  return vmIds.length / seconds;
}
