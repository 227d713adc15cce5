import { and, asc, eq, inArray, type SQL, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { agentPresence, executions, holds, laneTimes, rolloutSteps, vms } from '#db/schema/index.ts';
import { openStates, waitingStates } from '#protocol/executions/index.ts';
import type { RunExecution, RunFacts } from '#server/domain/rollout-rules/judge-run.ts';
import { openSteps } from '#server/domain/rollout-rules/words.ts';
import { agentStatus } from '#server/domain/verdicts/index.ts';
import type { StoredRollout } from '../../rows.ts';
import { secondsSince } from '../load-steps.ts';
import type { StepRow } from '../pass.ts';

/** A step of a run, with what is known about its VM and its execution. */
export interface FactedRun {
  step: StepRow;
  facts: RunFacts;
}

const isUnended = inArray(executions.state, [...waitingStates, ...openStates]);

/** Whether something happened to a step that its rollout did not see yet. */
const isToJudge = (now: Date, isAborting: boolean): SQL => sql`(
  ${rolloutSteps.dueAt} <= ${now.toISOString()}::timestamptz
  or ${vms.deletedAt} is not null or ${vms.decommissioningAt} is not null
  or (${isAborting} and ${rolloutSteps.state} in ('soaking', 'retrying'))
  or (${holds.since} is not null and ${rolloutSteps.attempt} <= 1
    and ${inArray(executions.state, [...waitingStates])})
  or (${rolloutSteps.state} = 'inFlight' and (${executions.id} is null or not ${isUnended}
    or (${rolloutSteps.deliveredAt} is null and ${executions.deliveredAt} is not null))))`;

/** Loads the open steps of a run that must be judged now. */
export const loadOpenRuns = (
  tx: Transaction,
  { id, state }: Pick<StoredRollout, 'id' | 'state'>,
  now: Date,
  limit: number,
): Promise<FactedRun[]> =>
  loadFacts(
    tx,
    sql`${rolloutSteps.rolloutId} = ${id} and ${inArray(rolloutSteps.state, [...openSteps])}
      and ${isToJudge(now, state === 'aborting')}`,
    now,
    limit,
  );

/** Loads the steps of a run whose execution no machine has, to take it back. */
export const loadQueuedRuns = (tx: Transaction, id: string, now: Date, limit: number): Promise<FactedRun[]> =>
  loadFacts(
    tx,
    sql`${rolloutSteps.rolloutId} = ${id} and ${rolloutSteps.state} = 'inFlight' and ${rolloutSteps.attempt} <= 1
      and ${inArray(executions.state, [...waitingStates])}`,
    now,
    limit,
  );

/** Whether the machine runs commands of an extension, which have a deadline. */
const runsCommands = (now: Date) => sql<boolean>`exists (
  select from extension_health x where x.vm_id = ${rolloutSteps.vmId} and x.health = 'progressing'
    and x.deadline_at > ${now.toISOString()}::timestamptz)`;

async function loadFacts(tx: Transaction, where: SQL, now: Date, limit: number): Promise<FactedRun[]> {
  const rows = await tx
    .select({
      step: rolloutSteps,
      vm: { deletedAt: vms.deletedAt, decommissioningAt: vms.decommissioningAt },
      presence: { lastSeenAt: agentPresence.lastSeenAt, nextExpectedAt: agentPresence.nextExpectedAt },
      // Drizzle returns null for an object whose first column is null, so `past` comes first.
      hold: { past: holds.past, since: holds.since },
      lane: { past: laneTimes.past, since: laneTimes.takenAt },
      runsCommands: runsCommands(now),
      execution: {
        state: executions.state,
        errorCode: executions.errorCode,
        reason: executions.reason,
        cancelledBy: executions.cancelAskedBy,
        cancelledAt: executions.cancelAskedAt,
        concludedAt: executions.concludedAt,
        deliveredAt: executions.deliveredAt,
        dueAt: executions.dueAt,
      },
    })
    .from(rolloutSteps)
    .innerJoin(vms, eq(vms.id, rolloutSteps.vmId))
    .leftJoin(executions, and(eq(executions.vmId, rolloutSteps.vmId), eq(executions.id, rolloutSteps.executionId)))
    .leftJoin(agentPresence, eq(agentPresence.vmId, rolloutSteps.vmId))
    .leftJoin(holds, eq(holds.vmId, rolloutSteps.vmId))
    .leftJoin(laneTimes, eq(laneTimes.vmId, rolloutSteps.vmId))
    .where(where)
    .orderBy(asc(rolloutSteps.dueAt), asc(rolloutSteps.place))
    .limit(limit);
  return rows.map(({ step, vm, presence, hold, lane, runsCommands, execution }) => ({
    step,
    facts: {
      exists: vm.deletedAt === null,
      decommissioning: vm.decommissioningAt !== null,
      agent: agentStatus(presence, now),
      isHeld: hold?.since != null,
      isBusy: runsCommands || lane?.since != null,
      pausedSeconds: secondsSince(step.publishedAt, hold?.past) + secondsSince(step.publishedAt, lane?.past),
      execution: execution && executionFacts(execution),
    },
  }));
}

type ExecutionColumns = Omit<RunExecution, 'cancelled'> & { cancelledBy: string | null; cancelledAt: Date | null };

const executionFacts = ({ cancelledBy: by, cancelledAt: at, ...execution }: ExecutionColumns): RunExecution => ({
  ...execution,
  cancelled: by === null || at === null ? null : { by, at },
});
