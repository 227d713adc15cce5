import type { AdvanceInput, RingAdvance, RingFacts, RolloutFacts } from './advance-facts.ts';
import { bakeEnd, lacksApproval } from './advance-rings.ts';
import { openOf } from './counts.ts';
import { isUnreached } from './gates.ts';
import type { Judged } from './judge-rings.ts';
import { secondsAfter } from './step-times.ts';
import type { Reason } from './stored.ts';

/** Reasons for which a rollout may wait as long as it takes: a person decides, or the time is known. */
const excused: readonly string[] = ['ring_approval', 'window_closed', 'freeze', 'ring_bake'];

export const isExcused = ({ code }: Reason, { kind }: Pick<RolloutFacts, 'kind'>): boolean =>
  // An automatic rollout gives way to those of people for as long as they take.
  excused.includes(code) || (kind === 'automatic' && code === 'vms_busy');

/** Seconds after which a rollout is looked at again while the judging of steps is behind. */
const behindSeconds = 1;

/** Steps that cannot be judged now must be judged first. */
export const catchingUp = (now: Date): Reason => ({
  code: 'catching_up',
  at: secondsAfter(now, behindSeconds).toISOString(),
});

/** Returns what a running rollout waits for, apart from the beginning of members. */
export function waitingFor(
  { nextStepAt, isBehind, now }: Pick<AdvanceInput, 'nextStepAt' | 'isBehind' | 'now'>,
  judged: readonly Judged[],
  rings: readonly RingAdvance[],
): Reason[] {
  const reasons = judged.flatMap((one, index) => {
    const ring = rings[index];
    return ring === undefined ? [] : waitingOf(one, ring, rings[index - 1] ?? null);
  });
  const open = judged.reduce((sum, { facts }) => sum + openOf(facts.counts), 0);
  if (open === 0) return reasons;
  if (isBehind) reasons.push(catchingUp(now));
  return [...reasons, { code: 'steps_open', params: { open }, ...(nextStepAt && { at: nextStepAt.toISOString() }) }];
}

function waitingOf(judged: Judged, ring: RingAdvance, before: RingAdvance | null): Reason[] {
  const { facts } = judged;
  if (ring.state === 'waiting') {
    const isTurn = before === null || before.state === 'passed' || facts.advanced;
    return isTurn && lacksApproval(judged) ? [{ code: 'ring_approval', ring: facts.ring }] : [];
  }
  if (ring.state === 'passed') return busyOf(judged);
  if (ring.state === 'baking' && ring.metAt !== null)
    return [{ code: 'ring_bake', ring: facts.ring, at: bakeEnd(judged, ring.metAt).toISOString() }];
  const { size, counts } = facts;
  const isBusy = facts.setsBusy + facts.vmsBusy > 0;
  if (isUnreached({ size, counts, isLast: judged.isLast }) && !isBusy)
    return [{ code: 'nobody_reached', ring: facts.ring, params: { parked: counts.parked } }];
  return [...busyOf(judged), ...pairsOf(judged)];
}

/** Members that wait for other steps. */
function busyOf({ facts: { ring, setsBusy, vmsBusy } }: Judged): Reason[] {
  return [
    ...(setsBusy > 0 ? [{ code: 'sets_busy', ring, params: { members: setsBusy } }] : []),
    ...(vmsBusy > 0 ? [{ code: 'vms_busy', ring, params: { members: vmsBusy } }] : []),
  ];
}

const pairsOf = ({ facts, verdicts }: Judged): Reason[] =>
  verdicts
    .filter(({ gate, verdict }) => gate === 'compare' && verdict === 'wait')
    .map(({ params }) => ({ code: 'pairs_too_few', ring: facts.ring, params }));

/** Returns the reasons with the time since which each one holds. */
export const keepSince = (reasons: readonly Reason[], before: readonly Reason[], now: Date): Reason[] =>
  reasons.map((reason) => {
    const same = before.find(({ code, ring }) => code === reason.code && ring === reason.ring);
    return { ...reason, since: same?.since ?? now.toISOString() };
  });

/**
 * Returns what happens next: the reason whose time comes first, or the first reason. After a bake, the next ring with
 * members opens.
 */
export function nextOf(reasons: readonly Reason[], rings: readonly Pick<RingFacts, 'ring' | 'size'>[]): Reason | null {
  const timed = reasons.filter(({ at }) => at !== undefined).sort((a, b) => ((a.at ?? '') < (b.at ?? '') ? -1 : 1));
  const next = timed[0] ?? reasons[0];
  if (next === undefined) return null;
  const { since: _, ...shown } = next;
  const opens = next.code === 'ring_bake' && rings.find(({ ring, size }) => ring > (next.ring ?? 0) && size > 0);
  return opens ? { ...shown, code: 'ring_opens', ring: opens.ring } : shown;
}
