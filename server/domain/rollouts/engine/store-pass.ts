import { and, eq, sql } from 'drizzle-orm';
import { rolloutCurve, rolloutRings, rollouts } from '#db/schema/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import { releaseUnless } from '#server/domain/reservations/index.ts';
import type { Advance } from '#server/domain/rollout-rules/advance-facts.ts';
import { decidedOf, failedOf, resolvedPairs } from '#server/domain/rollout-rules/counts.ts';
import { stepStates } from '#server/domain/rollout-rules/words.ts';
import { createRevertIn } from '../create-revert.ts';
import { holderOf, isOutSql } from './holder.ts';
import { type Pass, type PassRing, recordPass } from './pass.ts';

/** Maximum number of points of a ring's curve. */
const maxPoints = 240;

/** Takes over what `advance` decided: rings, state, reasons. Records it in the activity. */
export async function applyAdvance(pass: Pass, next: Advance): Promise<void> {
  const { row, rings, ctx } = pass;
  for (const one of next.rings) {
    const ring = rings[one.ring];
    if (ring === undefined) continue;
    const { ring: _, ...values } = one;
    ring.row = { ...ring.row, ...values };
  }
  await recordRings(pass, next);
  const ends = next.state === 'finished' || next.state === 'aborted';
  Object.assign(row, {
    state: next.state,
    pausedBy: next.pausedBy,
    why: next.why,
    next: next.next,
    dueAt: next.dueAt,
    ...(ends && { endedAt: ctx.now, sealed: null, dueAt: null }),
  });
  if (next.unreach) await unreach(pass);
  if (ends) await recordPass(pass, 'rollout.finish', { state: next.state, counts: rings.map(({ counts }) => counts) });
  if (next.revertSelf) await revertSelf(pass);
}

async function recordRings(pass: Pass, { opened, passed, halted, why }: Advance): Promise<void> {
  const named = (ring: number) => ({ ring, ringName: pass.rings[ring]?.definition.name ?? String(ring + 1) });
  const counted = (ring: number) => ({ ...named(ring), counts: shown(pass.rings[ring]) });
  for (const ring of opened) await recordPass(pass, 'rollout.ring-open', named(ring));
  for (const ring of passed) await recordPass(pass, 'rollout.ring-pass', counted(ring));
  if (halted.length > 0) {
    await recordPass(pass, 'rollout.halt', { rings: halted.map(counted), why });
  } else if (pass.row.state !== 'paused' && why.some(({ code }) => portalStops.includes(code))) {
    await recordPass(pass, 'rollout.halt', { rings: [], why });
  }
}

/** Reasons for which the portal, and no gate, pauses a rollout. */
const portalStops: readonly string[] = ['restored', 'version_withdrawn', 'secrets_custody', 'no_progress'];

const shown = (ring: PassRing | undefined) =>
  ring && { decided: decidedOf(ring.counts), failed: failedOf(ring.counts), members: ring.row.size };

/** Members that were not reached are counted as such: those that wait have a row, the others have none. */
async function unreach({ tx, row, rings, ctx }: Pass): Promise<void> {
  await tx.execute(sql`
    update rollout_steps set state = 'unreached', due_at = null,
      decided_at = ${ctx.now.toISOString()}::timestamptz, updated_at = ${ctx.now.toISOString()}::timestamptz
     where rollout_id = ${row.id} and state in ('parked', 'recalled')`);
  await releaseUnless(tx, holderOf(row.id), isOutSql);
  for (const ring of rings) {
    const { counts } = ring;
    const known = stepStates.reduce((sum, state) => sum + counts[state], 0);
    const unreached = counts.unreached + counts.parked + counts.recalled + Math.max(0, ring.row.size - known);
    ring.counts = { ...counts, parked: 0, recalled: 0, unreached };
  }
}

/** Aborts the rollout, and creates and starts its revert (RO-32). */
async function revertSelf(pass: Pass): Promise<void> {
  const { tx, ctx, row } = pass;
  Object.assign(row, { state: 'aborting', pausedBy: null, dueAt: ctx.now });
  const revert = await createRevertIn(tx, ctx, row, { start: true });
  row.revertedBy = revert.id;
}

/** Writes the rings and the rollout as the pass left them, and notifies pages if something changed. */
export async function storePass(pass: Pass, before: PassBefore): Promise<void> {
  const { tx, ctx, row, rings } = pass;
  let isChanged = before.row !== JSON.stringify(shownOf(row));
  for (const [index, ring] of rings.entries()) {
    const values = ringValues(ring);
    if (before.rings[index] === JSON.stringify(values)) continue;
    isChanged = true;
    await tx
      .update(rolloutRings)
      .set(values)
      .where(and(eq(rolloutRings.rolloutId, row.id), eq(rolloutRings.ring, ring.row.ring)));
    await addPoint(pass, ring, index);
  }
  if (pass.hasProgress) row.progressAt = ctx.now;
  const { id, revision: _, ...values } = row;
  await tx
    .update(rollouts)
    .set({ ...values, servedAt: ctx.now })
    .where(eq(rollouts.id, id));
  if (isChanged) await recordChange(tx, 'rollout', id);
}

/** What a pass may change, as it was before. */
export interface PassBefore {
  row: string;
  rings: string[];
}

export const beforeOf = ({ row, rings }: Pass): PassBefore => ({
  row: JSON.stringify(shownOf(row)),
  rings: rings.map((ring) => JSON.stringify(ringValues(ring))),
});

const shownOf = ({ state, pausedBy, why, next, revertedBy }: Pass['row']) => [state, pausedBy, why, next, revertedBy];

const ringValues = ({ row, counts, taken }: PassRing) => ({
  state: row.state,
  verdicts: row.verdicts,
  overruled: row.overruled,
  openedAt: row.openedAt,
  metAt: row.metAt,
  passedAt: row.passedAt,
  size: row.size,
  counts,
  taken,
});

/** Adds a point to the curve of a ring whose numbers changed. */
async function addPoint({ tx, ctx, row }: Pass, { counts, row: before }: PassRing, ring: number): Promise<void> {
  const numbersOf = (of: PassRing['counts']) => ({
    decided: decidedOf(of),
    failed: failedOf(of),
    pairs: resolvedPairs(of),
    changedFirst: of.changedFirst,
    controlFirst: of.controlFirst,
    both: of.pairsBoth,
  });
  const point = numbersOf(counts);
  if (JSON.stringify(point) === JSON.stringify(numbersOf(before.counts))) return;
  await tx
    .insert(rolloutCurve)
    .values({ rolloutId: row.id, ring, at: ctx.now, ...point })
    .onConflictDoUpdate({ target: [rolloutCurve.rolloutId, rolloutCurve.ring, rolloutCurve.at], set: point });
  await tx.execute(sql`
    with points as (
      select at, row_number() over (order by at) as n, count(*) over () as total
        from rollout_curve where rollout_id = ${row.id} and ring = ${ring}
    )
    delete from rollout_curve c using points p
     where c.rollout_id = ${row.id} and c.ring = ${ring} and c.at = p.at
       and p.total > ${maxPoints} and p.n % 2 = 0 and p.n < p.total`);
}
