import { and, eq, inArray, isNull, or, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import {
  agentPresence,
  agents,
  executionCalls,
  executions,
  extensionLatest,
  extensionPulse,
  extensions,
  goalStateHeads,
  goalStates,
  handlerVersions,
  holds,
  pendingRestarts,
  secrets,
  vms,
} from '#db/schema/index.ts';
import { openStates, waitingStates } from '#protocol/executions/index.ts';
import { type GoalState, type HandlerReport, turnOf } from '#protocol/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { installsInUpdate, needsReleaseSql, needsSecretsSql } from '#server/domain/goal-states/index.ts';
import { isHandlerVersion } from '#server/domain/packages/index.ts';
import { parse } from '#server/domain/parse.ts';
import { listUnitsOfVm } from '#server/domain/services/index.ts';
import { agentStatus } from '#server/domain/verdicts/index.ts';
import { type GetVmInput, getVmInput } from '#server/domain/vms/input.ts';
import {
  type QueuedExecution,
  type QueuedGoal,
  type QueueFacts,
  queueOf,
  type VmQueue,
} from '#server/domain/work/index.ts';
import { withHooks } from './queued-hooks.ts';

/**
 * Returns what a VM is doing, what it will do next (in the agent's order), and which extensions, executions and hooks
 * wait and why. Throws 404 `vm_unknown`.
 */
export async function getVmQueue(ctx: Context, input: GetVmInput): Promise<VmQueue> {
  allow(ctx.actor, 'viewer');
  const { vmId } = parse(getVmInput, input);
  const { queue, stopped } = await ctx.db.transaction(
    async (tx) => {
      const { head, ...machine } = await loadMachine(tx, vmId);
      const facts = head === null ? null : await factsOf(tx, ctx, { ...machine, head });
      const empty = { now: null, next: [], waiting: [] };
      return { queue: facts === null ? empty : queueOf(facts), stopped: stoppedOf(machine, ctx.now) };
    },
    { isolationLevel: 'repeatable read', accessMode: 'read only' },
  );
  const { items } = await listUnitsOfVm(ctx, { vmId });
  return withHooks(queue, items, stopped);
}

type Machine = Awaited<ReturnType<typeof loadMachine>>;
type Goals = Awaited<ReturnType<typeof loadGoals>>;
type Row = Awaited<ReturnType<typeof loadExtensions>>[number];

async function loadMachine(tx: Transaction, vmId: string) {
  const { incarnation, deliveredIncarnation, heldIncarnation, deliveredAt } = goalStateHeads;
  const [row] = await tx
    .select({
      vmId: vms.id,
      head: { incarnation, deliveredIncarnation, heldIncarnation, deliveredAt },
      presence: agentPresence,
      agentKind: agents.kind,
      restarts: pendingRestarts.requests,
      heldAt: holds.since,
    })
    .from(vms)
    .leftJoin(goalStateHeads, eq(goalStateHeads.vmId, vms.id))
    .leftJoin(agentPresence, eq(agentPresence.vmId, vms.id))
    .leftJoin(agents, eq(agents.vmId, vms.id))
    .leftJoin(pendingRestarts, eq(pendingRestarts.vmId, vms.id))
    .leftJoin(holds, eq(holds.vmId, vms.id))
    .where(and(eq(vms.id, vmId), isNull(vms.deletedAt)));
  if (row === undefined) throw new DomainError('not_found', 'vm_unknown');
  return row;
}

function loadGoals(tx: Transaction, vmId: string, incarnations: readonly number[]) {
  const { incarnation, text, publishedAt, publishedBy } = goalStates;
  return tx
    .select({ incarnation, text, publishedAt, publishedBy })
    .from(goalStates)
    .where(and(eq(goalStates.vmId, vmId), inArray(incarnation, [...incarnations])));
}

function loadExtensions(tx: Transaction, vmId: string) {
  const { name, handler, sequenceNumber, changedAt, changedBy } = extensions;
  return tx
    .select({
      name,
      handler,
      sequenceNumber,
      changedAt,
      changedBy,
      report: sql<Omit<HandlerReport, 'output'> | null>`${extensionLatest.handlerState}::jsonb - 'output'`,
      hasOutput: sql<boolean>`coalesce(${extensionLatest.handlerState}::jsonb ? 'output', false)`,
      reportedAt: extensionLatest.handlerAt,
      statusWord: extensionPulse.statusWord,
      statusSequence: extensionPulse.statusSequence,
      needsSecrets: needsSecretsSql,
      needsRelease: needsReleaseSql,
    })
    .from(extensions)
    .leftJoin(extensionLatest, and(eq(extensionLatest.vmId, extensions.vmId), eq(extensionLatest.name, name)))
    .leftJoin(extensionPulse, and(eq(extensionPulse.vmId, extensions.vmId), eq(extensionPulse.name, name)))
    .leftJoin(secrets, and(eq(secrets.vmId, extensions.vmId), eq(secrets.id, extensions.secretId)))
    .leftJoin(goalStateHeads, eq(goalStateHeads.vmId, extensions.vmId))
    .where(eq(extensions.vmId, vmId))
    .orderBy(name);
}

async function factsOf(
  tx: Transaction,
  ctx: Context,
  machine: Machine & { head: NonNullable<Machine['head']> },
): Promise<QueueFacts> {
  const { vmId, head, presence, restarts, heldAt } = machine;
  const rows = await loadExtensions(tx, vmId);
  const goals = await loadGoals(tx, vmId, [head.incarnation, head.heldIncarnation ?? head.incarnation]);
  const updates = await loadUpdates(tx, goals, machine.agentKind === 'stock');
  const goalOf = (incarnation: number): QueuedGoal => {
    const published = goals.find((goal) => goal.incarnation === incarnation);
    const isDelivered = head.deliveredIncarnation === incarnation;
    return queuedGoal(published, rows, updates, isDelivered ? head.deliveredAt : null);
  };
  const isHeldBack = head.heldIncarnation !== null && head.heldIncarnation !== head.incarnation;
  const status = agentStatus(presence, ctx.now);
  const goal = goalOf(isHeldBack ? (head.heldIncarnation ?? 0) : head.incarnation);
  const heldGoal = isHeldBack ? goalOf(head.incarnation) : null;
  const newest = heldGoal ?? goal;
  return {
    goal,
    heldGoal,
    reports: rows.map((row) => ({
      name: row.name,
      handler: row.handler,
      report: row.report,
      hasOutput: row.hasOutput,
      reportedAt: row.reportedAt?.toISOString() ?? null,
      status:
        row.statusWord === null || row.statusSequence === null
          ? null
          : { word: row.statusWord, sequenceNumber: row.statusSequence },
    })),
    executions: await loadExecutions(tx, vmId),
    isHeld: heldAt !== null,
    stopped: stoppedOf(machine, ctx.now),
    restarting: (restarts ?? []).filter(({ byAgent }) => byAgent).map(({ handler }) => handler),
    withheld: rows.flatMap((row) => {
      const code = withheldCode(row, status === 'never' && !newest.extensions.some(({ name }) => name === row.name));
      return code === null ? [] : [{ name: row.name, code, asked: requested(row) }];
    }),
  };
}

/** Returns why the agent cannot start anything; null if it can. */
function stoppedOf({ presence }: Pick<Machine, 'presence'>, now: Date): QueueFacts['stopped'] {
  const status = agentStatus(presence, now);
  if (status !== 'never' && status !== 'unresponsive') return null;
  return { code: status === 'never' ? 'never' : 'silent', since: presence?.lastSeenAt.toISOString() ?? null };
}

async function loadExecutions(tx: Transaction, vmId: string): Promise<QueuedExecution[]> {
  const isUnfinished = or(inArray(executions.state, [...waitingStates]), inArray(executions.state, [...openStates]));
  const call = sql<QueuedExecution['call']>`(
    select json_build_object('n', c.n, 'script', c.script, 'function', c.function) from ${executionCalls} c
     where c.vm_id = ${executions.vmId} and c.execution_id = ${executions.id} and c.state = 'running'
     order by c.n desc limit 1)`;
  const { id, name, version, state, turn, queuedAt, queuedBy, begunAt, validUntil, dueAt, timeoutSeconds } = executions;
  const rows = await tx
    .select({ id, name, version, state, turn, queuedAt, queuedBy, begunAt, validUntil, dueAt, timeoutSeconds, call })
    .from(executions)
    .where(and(eq(executions.vmId, vmId), isUnfinished))
    .orderBy(turn);
  return rows.map(({ queuedAt, queuedBy, begunAt, validUntil, dueAt, state, ...row }) => ({
    ...row,
    state: state as QueuedExecution['state'],
    asked: { by: queuedBy, at: queuedAt.toISOString() },
    begunAt: begunAt?.toISOString() ?? null,
    // A hold postpones the expiry of an execution, so `dueAt` takes precedence.
    validUntil: (dueAt ?? validUntil).toISOString(),
  }));
}

/** Returns why an extension is omitted from the goal state; null if it is not omitted. */
function withheldCode({ needsSecrets, needsRelease }: Row, hasNoKey: boolean): 'secrets' | 'release' | 'never' | null {
  if (needsSecrets) return 'secrets';
  if (needsRelease) return 'release';
  return hasNoKey ? 'never' : null;
}

const requested = ({ changedBy, changedAt }: Row) => ({ by: changedBy, at: changedAt.toISOString() });

/** Loads the handler versions whose update also runs install, as `handler version`. */
async function loadUpdates(tx: Transaction, goals: Goals, isStock: boolean): Promise<ReadonlySet<string>> {
  const wanted = new Set(
    goals.flatMap(({ text }) => (JSON.parse(text) as GoalState).extensions.map(({ handler }) => handler)),
  );
  if (wanted.size === 0) return new Set();
  const { handler, version, manifest } = handlerVersions;
  const rows = await tx
    .select({ handler, version, manifest })
    .from(handlerVersions)
    .where(or(...[...wanted].map((one) => eq(handler, one))));
  return new Set(
    rows
      .filter(isHandlerVersion)
      .filter((row) => installsInUpdate(row.manifest, isStock))
      .map((row) => `${row.handler} ${row.version}`),
  );
}

function queuedGoal(
  published: Goals[number] | undefined,
  rows: readonly Row[],
  updates: ReadonlySet<string>,
  deliveredAt: Date | null,
): QueuedGoal {
  if (published === undefined) throw new Error('a goal state is missing in the history');
  const asked = { by: published.publishedBy, at: published.publishedAt.toISOString() };
  const goal = JSON.parse(published.text) as GoalState;
  return {
    turn: turnOf(goal),
    asked,
    deliveredAt: deliveredAt?.toISOString() ?? null,
    extensions: goal.extensions.map((one) => {
      const row = rows.find(({ name, sequenceNumber }) => name === one.name && sequenceNumber === one.sequenceNumber);
      return {
        ...one,
        asked: row === undefined ? asked : requested(row),
        installsInUpdate: updates.has(`${one.handler} ${one.version}`),
      };
    }),
  };
}
