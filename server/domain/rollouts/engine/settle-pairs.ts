import { sql } from 'drizzle-orm';
import { resolvePair } from '#server/domain/rollout-rules/counts.ts';
import { judgeControl, pairResult } from '#server/domain/rollout-rules/pairs.ts';
import { secondsAfter } from '#server/domain/rollout-rules/step-times.ts';
import { pairSeconds } from './draw-pairs.ts';
import { type FactedControl, loadControls } from './load-steps.ts';
import { type Pass, ringAt, type StepRow } from './pass.ts';
import { stepRules } from './step-rules.ts';
import { writeSteps } from './write-steps.ts';

/** Maximum number of pairs that one pass looks at. */
const atOnce = 2_000;

/** Resolves the pairs of which one VM failed, or whose step ended. Both VMs are judged by the same function. */
export async function settlePairs(pass: Pass): Promise<void> {
  if (pass.rings.every(({ counts }) => counts.pairsOpen === 0)) return;
  const pairs = await loadControls(pass.tx, pass.row.id, pass.ctx.now, atOnce);
  await writeSteps(
    pass.tx,
    pairs.map((pair) => settlePair(pass, pair)),
  );
  if (pass.row.state === 'aborting') await endPairs(pass);
}

function settlePair(pass: Pass, { step, facts, isControlTaken }: FactedControl): StepRow {
  const { now } = pass.ctx;
  const judged = judgeControl(facts, stepRules(pass, step), step.publishedAt ?? now, now);
  const control = isControlTaken ? 'void' : judged.result;
  const changedFailed = step.pairChangedFailedAt !== null;
  const result = pairResult(step.state, { changedFailed, control });
  const controlFailedAt = control === 'failed' ? (step.pairControlFailedAt ?? now) : step.pairControlFailedAt;
  if (result === null)
    return { ...step, pairControlFailedAt: controlFailedAt, pairDueAt: secondsAfter(now, pairSeconds) };
  const ring = ringAt(pass, step.ring);
  ring.counts = resolvePair(ring.counts, result);
  const hasChangedFailed = result === 'changed-first' || result === 'both';
  return {
    ...step,
    pairResult: result,
    pairChangedFailedAt: hasChangedFailed ? (step.pairChangedFailedAt ?? now) : step.pairChangedFailedAt,
    pairControlFailedAt: controlFailedAt,
    pairDueAt: null,
  };
}

/** An abort ends the watching of pairs. */
async function endPairs({ tx, row, rings }: Pass): Promise<void> {
  await tx.execute(sql`
    update rollout_steps set pair_result = 'void', pair_due_at = null
     where rollout_id = ${row.id} and pair_vm_id is not null and pair_result is null`);
  for (const ring of rings) {
    for (let open = ring.counts.pairsOpen; open > 0; open -= 1) ring.counts = resolvePair(ring.counts, 'void');
  }
}
