import { eq, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { rollouts } from '#db/schema/index.ts';
import { advance } from '#server/domain/rollout-rules/advance.ts';
import type { Advance } from '#server/domain/rollout-rules/advance-facts.ts';
import { lockRollout, ringsOf } from '../rows.ts';
import { readRules } from '../rules.ts';
import { loadAdvanceFacts } from './advance-facts.ts';
import { beginBatch, setAside } from './batch.ts';
import { loadUndelivered } from './load-steps.ts';
import { addNewcomers } from './newcomers.ts';
import { contextOf, type Pass, type PassLimits, type PassRing, type PassServices } from './pass.ts';
import { isRun } from './runs/order-of.ts';
import { recallQueued } from './runs/settle-runs.ts';
import { settle } from './settle.ts';
import { settlePairs } from './settle-pairs.ts';
import { movingSql } from './state-lists.ts';
import { applyAdvance, beforeOf, storePass } from './store-pass.ts';
import { takeBack } from './take-back.ts';
import type { ChosenTurn } from './turns.ts';
import { flushSteps } from './write-steps.ts';

/** Maximum number of goal states that one pass takes back. */
const recallsAtOnce = 250;
const usualLimits: PassLimits = { parkedAtOnce: 1_000 };
/** Milliseconds until a pass tries again what another transaction was changing. */
const againMs = 250;
/** Milliseconds until a rollout whose pass failed is looked at again. */
const failedMs = 10_000;

/**
 * Looks at the open rollout that is due and whose last pass was longest ago: judges its steps, decides how it
 * continues, takes back what must be, and begins the next steps. Everything commits together. A rollout whose pass
 * fails is looked at again a little later, so that it does not keep others waiting. Returns the rollout's id; null if
 * none is due.
 */
export async function passRollout(
  services: PassServices,
  now: Date,
  limits: PassLimits = usualLimits,
): Promise<string | null> {
  let taken: string | null = null;
  const onTaken = (id: string) => {
    taken = id;
  };
  try {
    return await passOnce(services, now, onTaken, limits);
  } catch (error) {
    if (taken === null) throw error;
    services.log.error({ err: error, rollout: taken }, 'a rollout could not be moved on; retrying');
    const dueAt = new Date(now.getTime() + failedMs);
    await services.db.update(rollouts).set({ dueAt, servedAt: now }).where(eq(rollouts.id, taken));
    return taken;
  }
}

/** Does one pass, or fails without an effect. `onTaken` is called with the id of the rollout. */
export async function passOnce(
  services: PassServices,
  now: Date,
  onTaken: (id: string) => void = () => {},
  limits: PassLimits = usualLimits,
): Promise<string | null> {
  return services.db.transaction(async (tx) => {
    const id = await lockDue(tx, now);
    if (id === null) return null;
    onTaken(id);
    await passOver({ ...(await openPass(services, tx, id, now)), ...limits });
    return id;
  });
}

async function lockDue(tx: Transaction, now: Date): Promise<string | null> {
  const { rows } = await tx.execute<{ id: string }>(sql`
    select id from rollouts
     where due_at <= ${now.toISOString()}::timestamptz and state in ${movingSql}
     order by served_at nulls first for update skip locked limit 1`);
  return rows[0]?.id ?? null;
}

async function openPass(
  services: PassServices,
  tx: Transaction,
  id: string,
  now: Date,
): Promise<Omit<Pass, keyof PassLimits>> {
  const row = await lockRollout(tx, id);
  if (row.kind === 'revert' && row.of !== null) await lockRollout(tx, row.of);
  const { rules, freezes } = await readRules(tx);
  const rows = await ringsOf(tx, id);
  const rings = rows.map((ring): PassRing => {
    const definition = row.definition.rings[ring.ring];
    if (definition === undefined) throw new Error(`ring ${ring.ring} of rollout ${id} has no definition`);
    return { row: ring, definition, counts: ring.counts, taken: ring.taken };
  });
  const ctx = contextOf(services, row, now);
  return {
    tx,
    ctx,
    row,
    rings,
    rules,
    freezes,
    changed: new Map(),
    hasProgress: false,
    hasMore: false,
    isBehind: false,
  };
}

async function passOver(pass: Pass): Promise<void> {
  const { ctx, row } = pass;
  const before = beforeOf(pass);
  await settle(pass);
  await settlePairs(pass);
  await addNewcomers(pass);
  const { input, parked } = await loadAdvanceFacts(pass);
  const next = advance(input);
  await applyAdvance(pass, next);
  if (next.recall) await recall(pass);
  if (next.mayBegin !== null) await begin(pass, next.mayBegin, parked);
  if (pass.hasMore && row.endedAt === null) row.dueAt = soonest(row.dueAt, ctx.now);
  await storePass(pass, before);
}

const soonest = (a: Date | null, b: Date): Date => (a === null || b < a ? b : a);

/** Takes back what no agent has fetched. What is left is taken back by the next pass. */
async function recall(pass: Pass): Promise<void> {
  const { ctx, row } = pass;
  const count = isRun(pass) ? await recallQueued(pass, recallsAtOnce) : await recallUndelivered(pass);
  if (count === 0) return;
  const isComplete = pass.changed.size === count && count < recallsAtOnce;
  await flushSteps(pass);
  row.dueAt = soonest(row.dueAt, isComplete ? ctx.now : new Date(ctx.now.getTime() + againMs));
}

async function recallUndelivered(pass: Pass): Promise<number> {
  const steps = await loadUndelivered(pass.tx, pass.row.id, pass.ctx.now, recallsAtOnce);
  await takeBack(pass, steps, ({ step }) => (step.state === 'parked' ? 'not-fetching' : null));
  return steps.length;
}

/** Begins the next steps. What could not begin is looked at when the rate allows it. */
async function begin(
  pass: Pass,
  mayBegin: NonNullable<Advance['mayBegin']>,
  parked: readonly ChosenTurn[],
): Promise<void> {
  const { ctx, row } = pass;
  for (const { turn, choice } of parked) {
    if (choice.what !== 'begin') setAside(pass, turn.step?.ring ?? mayBegin.ring, turn, choice);
  }
  await flushSteps(pass);
  const ready = parked.filter(({ choice }) => choice.what === 'begin');
  const before = JSON.stringify(pass.rings.map(({ counts, taken }) => [counts, taken]));
  await beginBatch(pass, mayBegin, ready);
  const isMoved = before !== JSON.stringify(pass.rings.map(({ counts, taken }) => [counts, taken]));
  // The next pass says what the rollout waits for now.
  row.dueAt = isMoved ? ctx.now : new Date(ctx.now.getTime() + againMs);
}
