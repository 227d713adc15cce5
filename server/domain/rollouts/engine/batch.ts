import { createHash } from 'node:crypto';
import { sql } from 'drizzle-orm';
import type { Advance } from '#server/domain/rollout-rules/advance-facts.ts';
import { beginSteps } from './begin-steps.ts';
import { drawPairs } from './draw-pairs.ts';
import { type Beginner, emptyStep } from './empty-step.ts';
import { nextMembers, recalledMembers, type Turn } from './load-members.ts';
import { type Pass, type PassRing, recordPass, ringAt, type StepRow, setStep } from './pass.ts';
import { type ChosenTurn, chooseTurns } from './turns.ts';
import { flushSteps } from './write-steps.ts';

/** Maximum number of steps that begin in one transaction. */
const atOnce = 250;
/** Members that are read beyond the limit, because some of them cannot begin now. */
const spare = 50;

/**
 * Begins the next steps of a ring: recalled members first, then parked members that can begin now, then the next ones
 * in order (RO-7). Members that cannot begin now get a row that says why, and do not count toward the limit.
 */
export async function beginBatch(
  pass: Pass,
  { ring: index, room }: NonNullable<Advance['mayBegin']>,
  ready: readonly ChosenTurn[],
): Promise<void> {
  const ring = ringAt(pass, index);
  const rate = rateOf(pass);
  const most = Math.min(room, atOnce, Math.max(1, rate.rollout));
  if (most <= 0) return;
  const recalled = await recalledMembers(pass.tx, pass.row.id, { ring: index, limit: most });
  const chosen = await chooseTurns(pass, recalled);
  const parked = ready.filter(({ turn }) => turn.step?.ring === index);
  const known = [...chosen, ...parked];
  const beginners = takeTurns(pass, index, known, most);
  if (beginners.length < most) {
    const next = await takeNext(pass, ring, index, most - beginners.length, groupsOf(beginners));
    beginners.push(...next);
  }
  await flushSteps(pass);
  const began = await beginSteps(pass, beginners);
  if (began.length === 0) return;
  await drawPairs(pass, index, began);
  await recordPass(pass, 'rollout.batch', { ring: index, count: began.length, sha256: digestOf(began) });
  await slowDown(pass, began.length, rate);
}

/**
 * Returns the digest of what a batch published: one line for each VM with its incarnation or its execution, in the
 * order of the ids.
 */
function digestOf(steps: readonly StepRow[]): string {
  const lines = steps.map(({ vmId, incarnation, executionId }) => `${vmId} ${executionId ?? incarnation}\n`).sort();
  return createHash('sha256').update(lines.join('')).digest('hex');
}

const groupsOf = (beginners: readonly Beginner[]): Set<string> =>
  new Set(beginners.flatMap(({ group }) => (group === null ? [] : [group])));

/** Notes the outcome for members that do not begin, and returns the others, at most `most`. */
function takeTurns(
  pass: Pass,
  ring: number,
  chosen: readonly ChosenTurn[],
  most: number,
  groups: Set<string> = new Set(),
): Beginner[] {
  const { kind, of, definition } = pass.row;
  const beginners: Beginner[] = [];
  for (const { turn, choice, facts } of chosen) {
    const group = facts?.group ?? null;
    if (choice.what !== 'begin') {
      setAside(pass, ring, turn, choice);
    } else if (definition.availabilitySets === 'respect' && group !== null && groups.has(group)) {
      setAside(pass, ring, turn, { what: 'park', cause: 'set-busy' });
    } else if (beginners.length < most) {
      if (group !== null) groups.add(group);
      const isTakenOver = kind === 'revert' && of !== null && facts?.openIn === of;
      beginners.push({ turn, ring, group, isTakenOver, wasHealthy: facts?.wasHealthy ?? false });
    }
  }
  return beginners;
}

/** Takes the next members in order, until enough of them begin. */
async function takeNext(
  pass: Pass,
  ring: PassRing,
  index: number,
  most: number,
  groups: Set<string>,
): Promise<Beginner[]> {
  const limit = Math.min(atOnce, most + spare);
  const turns = await nextMembers(pass.tx, pass.row.id, { ring: index, taken: ring.taken, limit });
  const chosen = await chooseTurns(pass, turns);
  const begins = chosen.flatMap(({ choice }, at) => (choice.what === 'begin' ? [at] : []));
  const taken = chosen.slice(0, begins[most] ?? chosen.length);
  ring.taken += taken.length;
  if (taken.length > 0) pass.hasMore = true;
  return takeTurns(pass, index, taken, most, groups);
}

/** Gives a member that does not begin a row that says why. */
export function setAside(
  pass: Pass,
  ring: number,
  turn: Turn,
  choice: Exclude<ChosenTurn['choice'], { what: 'begin' }>,
): void {
  const { now } = pass.ctx;
  const step = emptyStep(pass, turn, ring);
  const from = turn.step?.state ?? null;
  if (choice.what === 'park') {
    if (turn.step?.state === 'parked' && turn.step.cause === choice.cause) return;
    setStep(pass, from, { ...step, state: 'parked', cause: choice.cause });
  } else if (choice.what === 'skip') {
    setStep(pass, from, { ...step, state: 'skipped', cause: choice.cause, decidedAt: now });
  } else if (choice.what === 'leave') {
    setStep(pass, from, { ...step, state: 'unreached', cause: 'silent', decidedAt: now });
  } else setStep(pass, from, { ...step, state: 'gone', decidedAt: now });
}

interface Rate {
  portal: number;
  rollout: number;
}

/** Steps a second, of the portal and of this rollout. */
const rateOf = ({ rules, row }: Pass): Rate => ({
  portal: rules.stepsPerSecond,
  rollout: Math.min(rules.stepsPerSecond, row.definition.stepsPerSecond ?? rules.stepsPerSecond),
});

/** Keeps the next batches from beginning before the rates allow it, counted from now (RO-12). */
async function slowDown(pass: Pass, began: number, rate: Rate): Promise<void> {
  const after = (perSecond: number) => new Date(pass.ctx.now.getTime() + (began / perSecond) * 1_000);
  pass.row.nextBatchAt = after(rate.rollout);
  await pass.tx.execute(sql`
    update rollout_rules set next_batch_at = ${after(rate.portal).toISOString()}::timestamptz where id = 1`);
}
