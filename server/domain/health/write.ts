import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { recordChanges, scheduleHealthChecks } from '#server/domain/changes/index.ts';
import { writeConcerns } from './concerns.ts';
import type { HealthUpdate } from './evaluate-vm.ts';
import { addToCounts } from './fleet-counts.ts';

/** If more VMs than this changed, open pages are only notified that the fleet changed, not which VMs. */
const namedVms = 100;
/**
 * Average time after which a VM is evaluated again even if its health does not change with time, so that wrong health
 * values do not persist.
 */
const restMs = 24 * 60 * 60_000;

/** Writes changed health with a few statements, regardless of the number of VMs. Returns the number of changed VMs. */
export async function writeHealthUpdates(
  tx: Transaction,
  updates: readonly HealthUpdate[],
  now: Date,
): Promise<number> {
  const changed = updates.filter(
    ({ vm, extensions, removed, concern }) => vm || concern || extensions.length > 0 || removed.length > 0,
  );
  await writeVms(
    tx,
    changed.flatMap(({ vm }) => vm ?? []),
  );
  await writeExtensions(
    tx,
    changed.flatMap(({ extensions }) => extensions),
  );
  await dropExtensions(
    tx,
    changed.flatMap(({ vmId, removed }) => removed.map((name) => ({ vmId, name }))),
  );
  await writeConcerns(
    tx,
    changed.flatMap(({ vmId, concern }) => (concern === null ? [] : [{ vmId, ...concern }])),
  );
  await writeTransitions(
    tx,
    changed.flatMap(({ transitions }) => transitions),
  );
  const added = new Map<string, number>();
  for (const [what, n] of changed.flatMap((each) => [...each.added])) added.set(what, (added.get(what) ?? 0) + n);
  await addToCounts(tx, added);
  await reschedule(tx, updates, now);
  const keys = changed.map(({ vmId }) => vmId);
  await recordChanges(tx, 'fleet', keys.length > namedVms ? ['*'] : keys);
  return changed.length;
}

/** Passes all rows as one parameter, so that the statement is the same for any number of rows. */
const rowsOf = (rows: readonly object[]) => sql.param(JSON.stringify(rows));

async function writeVms(tx: Transaction, rows: readonly NonNullable<HealthUpdate['vm']>[]): Promise<void> {
  if (rows.length === 0) return;
  await tx.execute(sql`
    insert into vm_health (vm_id, name, tags, health, rank, agent, since, deadline_at)
    select * from json_to_recordset(${rowsOf(rows)}::json) as r("vmId" uuid, name text, tags jsonb, health text,
      rank smallint, agent text, since timestamptz, "deadlineAt" timestamptz)
    on conflict (vm_id) do update set
      name = excluded.name, tags = excluded.tags, health = excluded.health, rank = excluded.rank,
      agent = excluded.agent, since = excluded.since, deadline_at = excluded.deadline_at,
      written_by = pg_current_xact_id()`);
}

async function writeExtensions(tx: Transaction, rows: HealthUpdate['extensions']): Promise<void> {
  if (rows.length === 0) return;
  await tx.execute(sql`
    insert into extension_health (vm_id, name, handler, goal_version, version, sequence_number, health, heartbeat, cause,
      command, exit_code, message_id, waits_for, since, deadline_at, problem, problem_since)
    select * from json_to_recordset(${rowsOf(rows)}::json) as r("vmId" uuid, name text, handler text,
      "goalVersion" text, version text, "sequenceNumber" bigint, health text, heartbeat text, cause text, command text, "exitCode" integer,
      "messageId" text, "waitsFor" text, since timestamptz, "deadlineAt" timestamptz, problem text,
      "problemSince" timestamptz)
    on conflict (vm_id, name) do update set
      handler = excluded.handler, goal_version = excluded.goal_version, version = excluded.version,
      sequence_number = excluded.sequence_number, health = excluded.health, heartbeat = excluded.heartbeat, cause = excluded.cause, command = excluded.command,
      exit_code = excluded.exit_code, message_id = excluded.message_id, waits_for = excluded.waits_for,
      since = excluded.since, deadline_at = excluded.deadline_at, problem = excluded.problem,
      problem_since = excluded.problem_since`);
}

async function dropExtensions(tx: Transaction, removed: readonly { vmId: string; name: string }[]): Promise<void> {
  if (removed.length === 0) return;
  await tx.execute(sql`
    delete from extension_health e
     using json_to_recordset(${rowsOf(removed)}::json) as r("vmId" uuid, name text)
     where e.vm_id = r."vmId" and e.name = r.name`);
}

async function writeTransitions(tx: Transaction, rows: HealthUpdate['transitions']): Promise<void> {
  if (rows.length === 0) return;
  await tx.execute(sql`
    insert into health_transitions (at, vm_id, extension, kind, "from", "to", cause, waits_for)
    select * from json_to_recordset(${rowsOf(rows)}::json) as r(at timestamptz, "vmId" uuid, extension text, kind text,
      "from" text, "to" text, cause text, "waitsFor" text)`);
}

async function reschedule(tx: Transaction, updates: readonly HealthUpdate[], now: Date): Promise<void> {
  // Spreads the checks over time, because the health of a whole fleet may first be derived at the same time.
  const checks = updates.map(({ vmId, nextAt }) => {
    const rest = new Date(now.getTime() + restMs * (0.5 + Math.random()));
    return { vmId, dueAt: nextAt !== null && nextAt < rest ? nextAt : rest };
  });
  await scheduleHealthChecks(tx, checks);
}
