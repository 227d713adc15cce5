import type { Advance, AdvanceInput, RingAdvance } from './advance-facts.ts';
import { keepRing, moveRings, stopRing } from './advance-rings.ts';
import { findBeginning } from './begin.ts';
import { openOf } from './counts.ts';
import { overrule } from './gates.ts';
import { haltsOf, isHalting, type Judged, judgeRings } from './judge-rings.ts';
import { isOver, keepEnd, keepingReasons, parkedIn, workOf } from './keeping.ts';
import { secondsAfter } from './step-times.ts';
import type { Reason } from './stored.ts';
import { isExcused, keepSince, nextOf, waitingFor } from './waiting.ts';

export type { Advance, AdvanceInput, Overruled, RingAdvance, RingFacts, RolloutFacts } from './advance-facts.ts';

/** A rollout that waits for something without a known time is looked at again after this many seconds. */
const lookSeconds = 60;

/**
 * Decides how a rollout and its rings change in one pass. A pure function. All gates of all rings are judged first,
 * and a halt comes before everything that could open or pass (RO-23).
 */
export function advance(input: AdvanceInput): Advance {
  switch (input.rollout.state) {
    case 'scheduled':
      return advanceScheduled(input);
    case 'running':
    case 'keeping':
      return advanceMoving(input);
    case 'paused':
      return advancePaused(input);
    case 'aborting':
      return advanceAborting(input);
    default:
      return unchanged(input, judgeRings(input.rings).map(keepRing));
  }
}

const unchanged = ({ rollout }: AdvanceInput, rings: RingAdvance[]): Advance => ({
  state: rollout.state,
  pausedBy: rollout.pausedBy,
  why: [...rollout.why],
  next: null,
  rings,
  opened: [],
  passed: [],
  halted: [],
  mayBegin: null,
  recall: false,
  revertSelf: false,
  unreach: false,
  dueAt: null,
});

function advanceScheduled(input: AdvanceInput): Advance {
  const { rollout, now } = input;
  const same = unchanged(
    input,
    input.rings.map((facts) => keepRing({ facts, verdicts: [], isMet: false, isLast: false })),
  );
  if (rollout.startAt === null || rollout.startAt <= now) return { ...same, state: 'checking', why: [], dueAt: now };
  const reason = { code: 'start_at', at: rollout.startAt.toISOString() };
  return { ...same, why: keepSince([reason], rollout.why, now), next: reason, dueAt: rollout.startAt };
}

/** Reasons for which the portal pauses a rollout, whatever its rings say. */
function portalReasons({ rollout }: AdvanceInput): Reason[] {
  const { epochChanged, versionWithdrawn, secretsLost } = rollout;
  return [
    ...(epochChanged ? [{ code: 'restored' }] : []),
    ...(secretsLost ? [{ code: 'secrets_custody' }] : []),
    ...(versionWithdrawn ? [{ code: 'version_withdrawn', params: { ...versionWithdrawn } }] : []),
  ];
}

function advanceMoving(input: AdvanceInput): Advance {
  const { rollout, now } = input;
  const judged = judgeRings(input.rings);
  const halts = haltsOf(judged, now);
  const portal = portalReasons(input);
  if (halts.length + portal.length > 0) return pause(input, judged, [...halts, ...portal]);
  if (rollout.isSuperseded) return advanceAborting(input);
  const rings = moveRings(judged, now);
  const moved = { ...unchanged(input, rings), pausedBy: null, why: [], ...changesOf(input, rings) };
  const isClosing = rollout.state === 'keeping' && isOver(input);
  if (rings.every(({ state }) => state === 'passed') && workOf(input, isClosing) === 0) {
    const ended = endOf(input, moved);
    if (ended !== null) return ended;
  }
  const { mayBegin, reasons: full } = isClosing ? { mayBegin: null, reasons: [] } : findBeginning(input, rings);
  const others = { ...input, isBehind: input.isBehind && full.length === 0 };
  const reasons = mayBegin === null ? [...full, ...waitingFor(others, judged, rings)] : [];
  const why = keepSince(reasons.length > 0 || mayBegin !== null ? reasons : keepingReasons(input), rollout.why, now);
  const stalled = mayBegin === null && rollout.state === 'running' && !why.some((one) => isExcused(one, rollout));
  const limit = rollout.progressAt === null ? null : secondsAfter(rollout.progressAt, rollout.noProgressSeconds);
  if (stalled && limit !== null && limit <= now) return pause(input, judged, [{ code: 'no_progress' }]);
  const dueAt = dueOf(input, mayBegin === null ? why : [], [stalled ? limit : null, keepEnd(input), mayBegin && now]);
  return { ...moved, state: rollout.state, why, next: nextOf(why, input.rings), mayBegin, dueAt };
}

/** Which rings opened and passed in this pass. */
const changesOf = ({ rings: before }: AdvanceInput, rings: readonly RingAdvance[]) => ({
  opened: rings.flatMap(({ ring, openedAt }, index) => (openedAt && !before[index]?.openedAt ? [ring] : [])),
  passed: rings.flatMap(({ ring, state }, index) =>
    state === 'passed' && before[index]?.state !== 'passed' ? [ring] : [],
  ),
});

/** Pauses the rollout once, with all reasons. What a gate said is kept, and nothing opens. */
function pause(input: AdvanceInput, judged: readonly Judged[], reasons: readonly Reason[]): Advance {
  const { rollout, now, nextStepAt } = input;
  const isGate = judged.some(isHalting);
  const why = keepSince(reasons, rollout.why, now);
  return {
    ...unchanged(input, judged.map(stopRing)),
    state: 'paused',
    pausedBy: isGate ? 'gate' : 'portal',
    why,
    halted: judged.filter((one) => isHalting(one)).map(({ facts }) => facts.ring),
    recall: true,
    revertSelf: isGate && rollout.onHalt === 'revert' && rollout.kind !== 'revert',
    dueAt: nextStepAt,
  };
}

/** A paused rollout is still judged while it has open steps; new halts are added to its reasons. */
function advancePaused(input: AdvanceInput): Advance {
  const { rollout, now, nextStepAt } = input;
  const judged = judgeRings(input.rings);
  const isNew = ({ code, ring }: Reason) => !rollout.why.some((one) => one.code === code && one.ring === ring);
  const halts = haltsOf(judged, now).filter(isNew);
  const added = [...halts, ...portalReasons(input).filter(isNew)];
  const known = new Set(halts.map(({ ring }) => ring));
  return {
    ...unchanged(input, judged.map(stopRing)),
    pausedBy: halts.length > 0 ? 'gate' : rollout.pausedBy,
    why: keepSince([...rollout.why, ...added], rollout.why, now),
    halted: judged.filter(({ facts }) => known.has(facts.ring)).map(({ facts }) => facts.ring),
    recall: true,
    revertSelf: halts.length > 0 && rollout.onHalt === 'revert' && rollout.kind !== 'revert',
    dueAt: nextStepAt,
  };
}

function advanceAborting(input: AdvanceInput): Advance {
  const { now, nextStepAt, rings } = input;
  const same = { ...unchanged(input, judgeRings(rings).map(keepRing)), pausedBy: null, why: [] };
  const open = rings.reduce((sum, { counts }) => sum + openOf(counts), 0);
  if (open === 0) return { ...same, state: 'aborted', unreach: true };
  const why = [{ code: 'steps_open', params: { open }, since: now.toISOString() }];
  const dueAt = nextStepAt ?? secondsAfter(now, lookSeconds);
  return { ...same, state: 'aborting', why, next: nextOf(why, rings), recall: true, dueAt };
}

/** All rings passed and nothing is open or queued: the rollout finishes, or keeps for parked members and newcomers. */
function endOf(input: AdvanceInput, moved: Advance): Advance | null {
  const { rollout, now } = input;
  const isKept = rollout.newcomers === 'include' || parkedIn(input) > 0;
  if (!isKept || isOver(input)) return { ...moved, state: 'finished', unreach: true, dueAt: null };
  if (rollout.state === 'keeping') return null;
  // What begins from now on is judged without what came before (RO-21).
  const rings = moved.rings.map((ring, index) => {
    const facts = input.rings[index];
    const overruled = facts && overrule(facts, ['errors', 'success', 'compare']);
    return { ...ring, overruled: overruled ?? null };
  });
  const why = keepSince(keepingReasons(input), rollout.why, now);
  return { ...moved, state: 'keeping', rings, why, next: nextOf(why, input.rings), dueAt: now };
}

/** Returns the next time at which something may happen; null if only a person moves the rollout. */
function dueOf(
  { nextStepAt, now }: AdvanceInput,
  why: readonly Reason[],
  others: readonly (Date | null)[],
): Date | null {
  const times = [nextStepAt, ...others, ...why.map(({ at }) => (at === undefined ? null : new Date(at)))];
  const known = times.filter((time) => time !== null).map((time) => time.getTime());
  const isPersons = why.length > 0 && why.every(({ code }) => code === 'ring_approval');
  if (!isPersons) known.push(secondsAfter(now, lookSeconds).getTime());
  return known.length === 0 ? null : new Date(Math.max(now.getTime(), Math.min(...known)));
}
