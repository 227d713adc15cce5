import { and, asc, eq, inArray, type SQL, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { agentPresence, goalStateHeads, healthChecks, holds, laneTimes, rolloutSteps, vms } from '#db/schema/index.ts';
import type { StepExtension, StepFacts } from '#server/domain/rollout-rules/step-facts.ts';
import type { StepFailure } from '#server/domain/rollout-rules/stored.ts';
import { openSteps } from '#server/domain/rollout-rules/words.ts';
import { agentStatus } from '#server/domain/verdicts/index.ts';
import type { StoredRollout } from '../rows.ts';
import type { StepRow } from './pass.ts';
import { failureOf } from './step-failure.ts';
import type { TouchedRow } from './touched-row.ts';

/** Seconds that a command's status may take after its deadline. */
const statusSeconds = 300;
/** The timeout of a command whose timeout is not known. */
const usualTimeout = 300;

/** A step with what is known about its VM. */
export interface FactedStep {
  step: StepRow;
  facts: StepFacts;
  /** What failed, should the step fail now. */
  failure: StepFailure;
}

/** A step with what is known about the control of its pair. */
export type FactedControl = Pick<FactedStep, 'step' | 'facts'> & { isControlTaken: boolean };

/** The touched extensions of a step `s`, as they are declared now, with their stored health. */
const touchedSql = sql<TouchedRow[] | null>`(
  select json_agg(json_build_object('name', t.name, 'handler', coalesce(e.handler, h.handler), 'state', e.state, 'sequenceNumber', e.sequence_number,
      'version', e.version, 'commands', e.commands, 'timeouts', e.timeouts, 'changedBy', e.changed_by,
      'changedAt', e.changed_at, 'changedWith', case when e.sequence_number <> t."sequenceNumber" then (
        select g.cause->>'action' from goal_states g where g.vm_id = e.vm_id and g.published_at <= e.changed_at
         order by g.incarnation desc limit 1) end,
      'health', case when h.name is null then null else json_build_object(
        'sequenceNumber', h.sequence_number, 'health', h.health, 'cause', h.cause, 'since', h.since,
        'deadlineAt', h.deadline_at, 'command', h.command, 'exitCode', h.exit_code, 'messageId', h.message_id,
        'isReported', u.status_word = 'error' and u.status_sequence = t."sequenceNumber") end))
    from json_to_recordset(${rolloutSteps.touched}) as t(name text, "sequenceNumber" bigint)
    left join extensions e on e.vm_id = ${rolloutSteps.vmId} and e.name = t.name
    left join extension_health h on h.vm_id = ${rolloutSteps.vmId} and h.name = t.name
    left join extension_pulse u on u.vm_id = ${rolloutSteps.vmId} and u.name = t.name)`;

/** The extensions of the control of a step: those that the step touched, or all, if the control has none of these. */
const controlSql = sql<TouchedRow[] | null>`(
  select json_agg(json_build_object('name', e.name, 'state', e.state, 'sequenceNumber', e.sequence_number,
      'version', e.version, 'commands', e.commands, 'timeouts', e.timeouts, 'changedBy', e.changed_by,
      'changedAt', e.changed_at, 'health', case when h.name is null then null else json_build_object(
        'sequenceNumber', h.sequence_number, 'health', h.health, 'cause', h.cause, 'since', h.since,
        'deadlineAt', h.deadline_at) end))
    from extensions e left join extension_health h on h.vm_id = e.vm_id and h.name = e.name
   where e.vm_id = ${rolloutSteps.pairVmId}
     and (e.name in (select t.name from json_to_recordset(${rolloutSteps.touched}) as t(name text))
       or not exists (select from extensions o join json_to_recordset(${rolloutSteps.touched}) as t(name text)
         on t.name = o.name where o.vm_id = ${rolloutSteps.pairVmId})))`;

/** Who published the current goal state of a step's VM. */
const publisherSql = sql<{ by: string; action: string; at: string } | null>`(
  select json_build_object('by', g.published_by, 'action', g.cause->>'action', 'at', g.published_at)
    from goal_states g where g.vm_id = ${rolloutSteps.vmId} and g.incarnation = ${goalStateHeads.incarnation})`;

/**
 * Whether something happened to a step that its rollout did not see yet. The end of a rollout does not wait for soaks,
 * attempts and VMs on hold (RO-30). Until the goal state is delivered or another one is published, the extensions need
 * not be read, and most open steps are of this kind.
 */
const isToJudge = (now: Date, isAborting: boolean): SQL => sql`(
  ${rolloutSteps.dueAt} <= ${now.toISOString()}::timestamptz
  or (${isAborting} and (${rolloutSteps.state} in ('soaking', 'retrying') or ${holds.since} is not null))
  or (${holds.since} is not null and ${rolloutSteps.state} = 'inFlight' and ${rolloutSteps.attempt} <= 1
    and ${goalStateHeads.deliveredIncarnation} < ${rolloutSteps.incarnation})
  or ${vms.deletedAt} is not null or ${vms.decommissioningAt} is not null
  or (${rolloutSteps.deliveredAt} is null and ${goalStateHeads.deliveredIncarnation} >= ${rolloutSteps.incarnation})
  or ((${goalStateHeads.deliveredIncarnation} >= ${rolloutSteps.incarnation}
      or ${goalStateHeads.incarnation} > ${rolloutSteps.incarnation}) and exists (
    select from json_to_recordset(${rolloutSteps.touched}) as t(name text, "sequenceNumber" bigint)
      left join extensions e on e.vm_id = ${rolloutSteps.vmId} and e.name = t.name
      left join extension_health h on h.vm_id = ${rolloutSteps.vmId} and h.name = t.name
     where e.sequence_number is distinct from t."sequenceNumber"
       or (h.sequence_number = t."sequenceNumber"
         and case when ${rolloutSteps.state} = 'soaking' then h.health not in ('healthy', 'disabled')
           else h.health not in ('progressing', 'unknown') end))))`;

/** Loads the open steps of a rollout, and parked ones that stay declared, that must be judged now. */
export async function loadOpenSteps(
  tx: Transaction,
  { id: rolloutId, state }: Pick<StoredRollout, 'id' | 'state'>,
  now: Date,
  limit: number,
): Promise<FactedStep[]> {
  return loadFacts(
    tx,
    sql`${rolloutSteps.rolloutId} = ${rolloutId} and (
      (${inArray(rolloutSteps.state, [...openSteps])} and ${isToJudge(now, state === 'aborting')})
      or (${rolloutSteps.state} = 'parked' and ${rolloutSteps.incarnation} is not null
        and ${goalStateHeads.deliveredIncarnation} >= ${rolloutSteps.incarnation}))`,
    now,
    limit,
  );
}

/** Loads the steps of a rollout whose goal state was not delivered, to take it back. */
export async function loadUndelivered(
  tx: Transaction,
  rolloutId: string,
  now: Date,
  limit: number,
): Promise<FactedStep[]> {
  return loadFacts(
    tx,
    sql`${rolloutSteps.rolloutId} = ${rolloutId} and ${rolloutSteps.attempt} <= 1
      and (${rolloutSteps.state} = 'inFlight'
        or (${rolloutSteps.state} = 'parked' and ${rolloutSteps.incarnation} is not null))
      and ${goalStateHeads.deliveredIncarnation} < ${rolloutSteps.incarnation}`,
    now,
    limit,
  );
}

/** Loads the steps that meet a condition. All facts are read only for these, because most steps do not meet it. */
async function loadFacts(tx: Transaction, where: SQL, now: Date, limit: number): Promise<FactedStep[]> {
  const found = await tx
    .select({ vmId: rolloutSteps.vmId, rolloutId: rolloutSteps.rolloutId })
    .from(rolloutSteps)
    .innerJoin(vms, eq(vms.id, rolloutSteps.vmId))
    .leftJoin(goalStateHeads, eq(goalStateHeads.vmId, rolloutSteps.vmId))
    .leftJoin(holds, eq(holds.vmId, rolloutSteps.vmId))
    .where(where)
    .orderBy(asc(rolloutSteps.dueAt), asc(rolloutSteps.place))
    .limit(limit);
  const [first] = found;
  if (first === undefined) return [];
  const vmIds = sql.param(found.map(({ vmId }) => vmId));
  const rows = await tx
    .select({
      step: rolloutSteps,
      vm: { deletedAt: vms.deletedAt, decommissioningAt: vms.decommissioningAt },
      head: {
        incarnation: goalStateHeads.incarnation,
        deliveredIncarnation: goalStateHeads.deliveredIncarnation,
        deliveredAt: goalStateHeads.deliveredAt,
      },
      presence: { lastSeenAt: agentPresence.lastSeenAt, nextExpectedAt: agentPresence.nextExpectedAt },
      // Drizzle returns null for an object whose first column is null, so `past` comes first.
      hold: { past: holds.past, since: holds.since },
      lane: { past: laneTimes.past, since: laneTimes.takenAt },
      isMarked: sql<boolean>`coalesce(${healthChecks.dueAt} = 'epoch', false)`,
      extensions: touchedSql,
      publisher: publisherSql,
    })
    .from(rolloutSteps)
    .innerJoin(vms, eq(vms.id, rolloutSteps.vmId))
    .leftJoin(goalStateHeads, eq(goalStateHeads.vmId, rolloutSteps.vmId))
    .leftJoin(agentPresence, eq(agentPresence.vmId, rolloutSteps.vmId))
    .leftJoin(holds, eq(holds.vmId, rolloutSteps.vmId))
    .leftJoin(laneTimes, eq(laneTimes.vmId, rolloutSteps.vmId))
    .leftJoin(healthChecks, eq(healthChecks.vmId, rolloutSteps.vmId))
    .where(and(eq(rolloutSteps.rolloutId, first.rolloutId), sql`${rolloutSteps.vmId} = any(${vmIds}::uuid[])`))
    .orderBy(asc(rolloutSteps.dueAt), asc(rolloutSteps.place));
  return rows.map(({ step, ...row }) => ({
    step,
    facts: factsOf(step, row, now),
    failure: failureOf(step, row.extensions ?? []),
  }));
}

type Period = readonly [from: string, to: string];

interface FactRow {
  vm: { deletedAt: Date | null; decommissioningAt: Date | null };
  head: { incarnation: number; deliveredIncarnation: number; deliveredAt: Date | null } | null;
  presence: { lastSeenAt: Date; nextExpectedAt: Date } | null;
  hold: { since: Date | null; past: readonly Period[] } | null;
  lane: { since: Date | null; past: readonly Period[] } | null;
  isMarked: boolean;
  extensions: TouchedRow[] | null;
  publisher: { by: string; action: string; at: string } | null;
}

function factsOf(step: StepRow, row: FactRow, now: Date): StepFacts {
  const rows = row.extensions ?? [];
  const agent = agentStatus(row.presence, now);
  return {
    exists: row.vm.deletedAt === null,
    decommissioning: row.vm.decommissioningAt !== null,
    extensions: rows.map(extensionFacts),
    headIncarnation: row.head?.incarnation ?? 0,
    deliveredIncarnation: row.head?.deliveredIncarnation ?? 0,
    deliveredAt: row.head?.deliveredAt ?? null,
    agent,
    agentPromiseKept: agent === 'ready',
    isMarked: row.isMarked,
    hold: row.hold?.since ? { since: row.hold.since } : null,
    laneSince: row.lane?.since ?? null,
    heldSeconds: secondsSince(step.publishedAt, row.hold?.past),
    laneBusySeconds: secondsSince(step.publishedAt, row.lane?.past),
    deadlineSeconds: rows.reduce((sum, extension) => sum + timeoutsOf(extension), statusSeconds),
    changedBy: changedByOf(step, rows, row.publisher),
  };
}

function extensionFacts({ name, state, sequenceNumber, version, health }: TouchedRow): StepExtension {
  return {
    name,
    declared: state === null ? null : { sequenceNumber, version, state: state === 'uninstall' ? 'uninstalled' : state },
    health: health && {
      ...health,
      since: new Date(health.since),
      deadlineAt: health.deadlineAt === null ? null : new Date(health.deadlineAt),
    },
  };
}

const timeoutsOf = ({ commands, timeouts }: TouchedRow): number =>
  (commands ?? ['enable']).reduce((sum, command) => sum + (timeouts?.[command] ?? usualTimeout), 0);

/** Returns the seconds of past periods that are after `from`. */
export function secondsSince(from: Date | null, past: readonly Period[] = []): number {
  if (from === null) return 0;
  const lengths = past.map(([begun, ended]) => Date.parse(ended) - Math.max(Date.parse(begun), from.getTime()));
  return lengths.reduce((sum, length) => sum + Math.max(0, length), 0) / 1_000;
}

/** Returns who changed a touched extension after the step; null if it is unchanged. */
function changedByOf(
  { touched }: StepRow,
  rows: readonly TouchedRow[],
  publisher: FactRow['publisher'],
): StepFacts['changedBy'] {
  for (const { name, sequenceNumber } of touched) {
    const row = rows.find((each) => each.name === name);
    if (row?.state != null && row.sequenceNumber === sequenceNumber) continue;
    if (row?.state != null) {
      const action = row.changedWith ?? 'extension.set';
      return { by: row.changedBy, action, at: new Date(row.changedAt).toISOString() };
    }
    if (publisher !== null) return { ...publisher, at: new Date(publisher.at).toISOString() };
  }
  return null;
}

/** The open pairs of a rollout that can be resolved, with what is known about the control. */
export async function loadControls(
  tx: Transaction,
  rolloutId: string,
  now: Date,
  limit: number,
): Promise<FactedControl[]> {
  const at = now.toISOString();
  const rows = await tx
    .select({
      step: rolloutSteps,
      vm: { deletedAt: vms.deletedAt, decommissioningAt: vms.decommissioningAt },
      presence: { lastSeenAt: agentPresence.lastSeenAt, nextExpectedAt: agentPresence.nextExpectedAt },
      hold: { past: holds.past, since: holds.since },
      isMarked: sql<boolean>`coalesce(${healthChecks.dueAt} = 'epoch', false)`,
      isControlTaken: sql<boolean>`exists (
        select from rollout_steps c where c.vm_id = ${rolloutSteps.pairVmId}
          and c.published_at >= ${rolloutSteps.publishedAt})`,
      extensions: controlSql,
    })
    .from(rolloutSteps)
    .innerJoin(vms, eq(vms.id, rolloutSteps.pairVmId))
    .leftJoin(agentPresence, eq(agentPresence.vmId, rolloutSteps.pairVmId))
    .leftJoin(holds, eq(holds.vmId, rolloutSteps.pairVmId))
    .leftJoin(healthChecks, eq(healthChecks.vmId, rolloutSteps.pairVmId))
    .where(
      sql`${rolloutSteps.rolloutId} = ${rolloutId} and ${rolloutSteps.pairVmId} is not null
        and ${rolloutSteps.pairResult} is null
        and (${rolloutSteps.pairDueAt} <= ${at}::timestamptz
          or ${rolloutSteps.state} not in ('inFlight', 'soaking', 'retrying')
          or ${vms.deletedAt} is not null
          or not exists (select from vm_health x
            where x.vm_id = ${rolloutSteps.pairVmId} and x.health = 'healthy'))`,
    )
    .orderBy(asc(rolloutSteps.ring), asc(rolloutSteps.place))
    .limit(limit);
  return rows.map(({ step, isControlTaken, ...row }) => {
    const facts = { ...row, head: null, lane: null, publisher: null };
    // A control has had its goal state for a long time, so only whether it stays healthy is judged.
    const known = { ...factsOf({ ...step, touched: [] }, facts, now), deliveredAt: step.publishedAt };
    return { step, isControlTaken, facts: known };
  });
}
