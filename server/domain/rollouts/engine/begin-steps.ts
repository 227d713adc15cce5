import { sql } from 'drizzle-orm';
import { type Applied, applyMany, type MemberChange } from '#server/domain/goal-states/index.ts';
import { release } from '#server/domain/reservations/index.ts';
import { kindAt, kindPosition } from '#server/domain/rollout-rules/kinds.ts';
import { fetchSeconds, secondsAfter } from '#server/domain/rollout-rules/step-times.ts';
import { changesOf } from './change-of.ts';
import { type Beginner, emptyStep } from './empty-step.ts';
import { holderOf } from './holder.ts';
import { countStep, type Pass, type StepRow } from './pass.ts';
import { reserveMembers } from './reserve-members.ts';
import { publishRuns } from './runs/begin-runs.ts';
import { isRun } from './runs/order-of.ts';
import { takeOver } from './take-over.ts';
import { writeSteps } from './write-steps.ts';

/** The unique index that keeps two open steps of a VM apart. */
const openVmIndex = 'rollout_steps_open_vm';

/**
 * Reserves these members, publishes their goal states and writes their steps. A VM whose group is busy, or whose change
 * is not possible, gets a step that says so. Returns the steps that began.
 */
export async function beginSteps(pass: Pass, beginners: readonly Beginner[]): Promise<StepRow[]> {
  const reserved = await reserveMembers(pass, beginners);
  const began = await publishAll(pass, reserved.free);
  const isBegun = new Set(began.map(({ vmId }) => vmId));
  await release(
    pass.tx,
    holderOf(pass.row.id),
    [...reserved.vmIds].filter((vmId) => !isBegun.has(vmId)),
  );
  return began;
}

async function publishAll(pass: Pass, beginners: readonly Beginner[]): Promise<StepRow[]> {
  if (beginners.length === 0) return [];
  if (isRun(pass)) return beginSome(pass, beginners, publishRuns);
  const changes = await changesOf(
    pass,
    beginners.map(({ turn }) => turn.vmId),
  );
  return beginSome(pass, beginners, (_, some) => publish(pass, some, changes));
}

type Changes = ReadonlyMap<string, MemberChange>;
/** Publishes what these members get, and returns their steps. */
type Publisher = (pass: Pass, some: readonly Beginner[]) => Promise<StepRow[]>;

/** If an unexpected error occurs, the halves are tried separately, down to a single VM. */
async function beginSome(pass: Pass, some: readonly Beginner[], publisher: Publisher): Promise<StepRow[]> {
  const { tx } = pass;
  await tx.execute(sql`savepoint begin_steps`);
  try {
    const steps = await publisher(pass, some);
    await writeSteps(tx, steps);
    await tx.execute(sql`release savepoint begin_steps`);
    return count(pass, some, steps);
  } catch (error) {
    await tx.execute(sql`rollback to savepoint begin_steps`);
    const [only] = some;
    if (only === undefined) return [];
    if (some.length === 1) {
      const step = unforeseen(pass, only, error);
      await writeSteps(tx, [step]);
      return count(pass, some, [step]);
    }
    const half = Math.ceil(some.length / 2);
    const first = await beginSome(pass, some.slice(0, half), publisher);
    return [...first, ...(await beginSome(pass, some.slice(half), publisher))];
  }
}

async function publish(pass: Pass, some: readonly Beginner[], changes: Changes): Promise<StepRow[]> {
  const { tx, ctx, row } = pass;
  const requests = some.flatMap(({ turn: { vmId, kind } }) => {
    const change = changes.get(vmId);
    return change ? [{ vmId, planned: kindAt(kind), change }] : [];
  });
  const action = row.kind === 'revert' ? 'rollout.revert' : 'rollout.step';
  const results = await applyMany(tx, ctx, requests, { action, rollout: row.id });
  await takeOver(
    pass,
    [...results].flatMap(([vmId, { outcome }]) => (outcome === 'applied' ? [vmId] : [])),
  );
  return some.map((one) => stepOf(pass, one, results.get(one.turn.vmId) ?? { outcome: 'unchanged' }));
}

function stepOf(pass: Pass, { turn, ring, wasHealthy }: Beginner, result: Applied): StepRow {
  const { now } = pass.ctx;
  const step = emptyStep(pass, turn, ring);
  const ended = { ...step, decidedAt: now };
  switch (result.outcome) {
    case 'applied':
      return {
        ...step,
        state: 'inFlight',
        attempt: 1,
        touched: result.touched,
        beforeIncarnation: result.beforeIncarnation,
        incarnation: result.incarnation,
        ...{ wasHealthy, publishedAt: now, dueAt: secondsAfter(now, fetchSeconds) },
      };
    case 'busy':
    case 'delivered':
      return { ...step, cause: 'vm-busy' };
    case 'unchanged':
      return { ...ended, state: 'skipped', cause: 'already' };
    case 'moved':
      return { ...ended, state: 'skipped', cause: 'moved', movedTo: kindPosition(result.kind) };
    case 'refused':
      return { ...ended, state: 'skipped', cause: `refused:${result.code}` };
    case 'overtaken':
      return {
        ...ended,
        state: 'overtaken',
        overtakenBy: { by: result.by, action: result.action, at: result.at.toISOString() },
      };
    case 'gone':
      return { ...ended, state: 'gone' };
  }
}

/** Returns the step of a VM whose goal state could not be published. */
function unforeseen(pass: Pass, { turn, ring }: Beginner, error: unknown): StepRow {
  const step = emptyStep(pass, turn, ring);
  if (isVmBusy(error)) return { ...step, cause: 'vm-busy' };
  pass.ctx.log.error({ err: error, vmId: turn.vmId, rollout: pass.row.id }, 'a step of a rollout could not begin');
  return { ...step, state: 'skipped', cause: 'refused:unforeseen', decidedAt: pass.ctx.now };
}

function isVmBusy(error: unknown): boolean {
  const at = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return (at as { constraint?: unknown } | null)?.constraint === openVmIndex;
}

function count(pass: Pass, some: readonly Beginner[], steps: readonly StepRow[]): StepRow[] {
  const before = new Map(some.map(({ turn }) => [turn.vmId, turn.step?.state ?? null]));
  for (const step of steps) countStep(pass, before.get(step.vmId) ?? null, step);
  return steps.filter(({ state }) => state === 'inFlight');
}
