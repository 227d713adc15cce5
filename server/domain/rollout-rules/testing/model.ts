import type { ExtensionHealth } from '#server/domain/verdicts/words.ts';
import { advance } from '../advance.ts';
import type { Advance, RingFacts, RolloutFacts } from '../advance-facts.ts';
import { emptyCounts, moveCount } from '../counts.ts';
import { overrule } from '../gates.ts';
import { judgeStep } from '../judge-step.ts';
import type { OpenStep, StepFacts } from '../step-facts.ts';
import { openSteps, type StepState } from '../words.ts';
import { facts, gates, health, later, ring, rollout, start, step, stepRules } from './facts.ts';

/** A member of the modelled rollout, and what its machine does. */
export interface Member {
  ring: number;
  step: OpenStep | null;
  fetched: boolean;
  fetchedAt: number;
  word: ExtensionHealth;
  since: number;
  /** Whether the agent calls, whether the VM is on hold, and whether another person changed the extension. */
  silent: boolean;
  held: boolean;
  changed: boolean;
  /** Whether the agent called again after it did not fetch a goal state. */
  heard: boolean;
}

/** A rollout with its rings and members at one time, in seconds. */
export interface World {
  seconds: number;
  rollout: RolloutFacts;
  rings: RingFacts[];
  members: Member[];
  dueAt: number | null;
  last: Advance | null;
}

const ringGates = gates({ bakeSeconds: 100, soakSeconds: 60, settleSeconds: 120, errors: { count: 2 } });
const rules = stepRules({
  soakSeconds: 60,
  settleSeconds: 120,
  retry: { times: 1, afterSeconds: 30, causes: ['exit'] },
});

/** Two rings, of which the second needs an approval. */
export function newWorld(onStepFailure: 'leave' | 'revert'): World {
  const member = (of: number): Member => ({
    ...{ ring: of, step: null, fetched: false, fetchedAt: 0, word: 'healthy', since: 0 },
    ...{ silent: false, held: false, changed: false, heard: false },
  });
  rules.onStepFailure = onStepFailure;
  return {
    seconds: 0,
    rollout: rollout({ noProgressSeconds: 10_000, keepDays: 1 }),
    rings: [
      ring({ ring: 0, size: 2, state: 'waiting', openedAt: null, gates: ringGates }),
      ring({ ring: 1, size: 1, state: 'waiting', openedAt: null, gates: ringGates, approval: true }),
    ],
    members: [member(0), member(0), member(1)],
    dueAt: 0,
    last: null,
  };
}

export const isOpen = ({ step: of }: Member): boolean =>
  of !== null && (openSteps as readonly StepState[]).includes(of.state);

function factsOf(member: Member): StepFacts {
  const sequenceNumber = member.changed ? 99 : (member.step?.incarnation ?? 0);
  const own = health(member.word, {
    sequenceNumber: member.fetched ? sequenceNumber : 0,
    since: later(member.since),
    cause: member.word === 'failed' ? 'exit' : null,
  });
  return facts(null, {
    extensions: [{ name: 'probe', declared: { sequenceNumber, state: 'enabled', version: '1.1.0.0' }, health: own }],
    deliveredIncarnation: member.fetched ? (member.step?.incarnation ?? 0) : 0,
    deliveredAt: later(member.fetchedAt),
    agent: member.silent ? 'unresponsive' : 'ready',
    agentPromiseKept: !member.silent,
    hold: member.held ? { since: start } : null,
    deadlineSeconds: 200,
  });
}

const nextOf = (member: Member, state: StepState, seconds: number, attempt: number): Member => {
  const incarnation = (member.step?.incarnation ?? 0) + 1;
  const touched = [{ name: 'probe', sequenceNumber: incarnation, before: null, version: '1.1.0.0' }];
  const published = { state, attempt, incarnation, touched, publishedAt: later(seconds), dueAt: later(seconds + 300) };
  return {
    ...member,
    fetched: false,
    heard: false,
    word: 'progressing',
    since: seconds,
    step: step({ ...published, cause: member.step?.cause ?? null }),
  };
};

/** Judges a step and does what its outcome demands, as the engine does in one transaction. */
function settle(member: Member, world: World): Member {
  const of = member.step;
  if (of === null || !(isOpen(member) || of.cause === 'not-fetching')) return member;
  const stage =
    world.rollout.state === 'aborting' ? 'aborting' : world.rollout.state === 'paused' ? 'paused' : 'running';
  const outcome = judgeStep(of, factsOf(member), { ...rules, stage }, later(world.seconds));
  const { act, overtakenBy: _, ...changes } = outcome;
  if (act === 'repeat') return nextOf(member, 'inFlight', world.seconds, of.attempt + 1);
  if (act === 'restore')
    return nextOf({ ...member, step: { ...of, cause: outcome.cause } }, 'reverting', world.seconds, of.attempt);
  return { ...member, step: { ...of, ...changes } };
}

const countsOf = (members: readonly Member[], of: number) =>
  members
    .filter((member) => member.ring === of)
    .reduce((sum, { step: one }) => moveCount(sum, null, one?.state ?? null), emptyCounts());

const hasObstacle = ({ silent, held, heard, step: of }: Member): boolean =>
  silent || held || (of?.state === 'parked' && of.cause === 'not-fetching' && !heard);

/** One pass of the engine: judges steps, advances the rollout, takes back what must be, and begins members. */
export function pass(world: World): World {
  const settled = world.members.map((member) => settle(member, world));
  const rings = world.rings.map((one) => ({
    ...one,
    counts: countsOf(settled, one.ring),
    ready: settled.filter((m) => m.ring === one.ring && m.step?.state === 'parked' && !hasObstacle(m)).length,
    held: settled.filter((m) => m.ring === one.ring && isOpen(m) && m.fetched && m.held).length,
  }));
  const moved = settled.some((member, index) => member.step?.state !== world.members[index]?.step?.state);
  const of = { ...world.rollout, ...(moved && { progressAt: later(world.seconds) }) };
  const times = settled.filter(isOpen).map((member) => member.step?.dueAt?.getTime() ?? Number.NaN);
  const nextStepAt = times.length === 0 ? null : new Date(Math.min(...times));
  const now = later(world.seconds);
  const result = advance({
    ...{ rollout: of, rings, freezes: [], nextBatchAt: null, portalInFlight: 0, maxPortalInFlight: 9 },
    ...{ nextStepAt, isBehind: false, now },
  });
  const members = begin(recall(settled, result, of), result, world.seconds);
  const next = rings.map((one, index) => ({ ...one, ...result.rings[index], counts: countsOf(members, one.ring) }));
  const dueAt = result.dueAt === null ? null : (result.dueAt.getTime() - start.getTime()) / 1_000;
  const { state, pausedBy, why } = result;
  return {
    seconds: world.seconds,
    rollout: { ...of, state, pausedBy, why },
    rings: next,
    members,
    dueAt,
    last: result,
  };
}

/** Takes back what no agent fetched; what is being reverted continues. */
function recall(members: readonly Member[], { recall: must, unreach }: Advance, { state }: RolloutFacts): Member[] {
  return members.map((member) => {
    const of = member.step;
    if (of === null) return member;
    if (unreach && of.state === 'parked') return { ...member, step: { ...of, state: 'unreached' } };
    if (!must || member.fetched || of.state !== 'inFlight') return member;
    if (of.attempt > 1) return { ...member, step: { ...of, state: 'failed', dueAt: null } };
    return { ...member, step: { ...of, state: state === 'aborting' ? 'unreached' : 'recalled', dueAt: null } };
  });
}

/** Begins members of the ring, or parks those that cannot be reached. */
function begin(members: readonly Member[], { mayBegin }: Advance, seconds: number): Member[] {
  let room = mayBegin?.room ?? 0;
  return members.map((member) => {
    const state = member.step?.state ?? null;
    const waits = state === null || state === 'recalled' || (state === 'parked' && !hasObstacle(member));
    if (room === 0 || member.ring !== mayBegin?.ring || !waits) return member;
    if (hasObstacle(member))
      return { ...member, step: step({ state: 'parked', cause: member.held ? 'on-hold' : 'silent' }) };
    room -= 1;
    return nextOf(member, 'inFlight', seconds, 1);
  });
}

/** Resumes a paused rollout as a person does who overrules every verdict. */
export const resume = (world: World): World => ({
  ...world,
  dueAt: world.seconds,
  rollout: { ...world.rollout, state: 'running', pausedBy: null, why: [], progressAt: later(world.seconds) },
  rings: world.rings.map((one) => ({
    ...one,
    state: one.state === 'halted' ? 'open' : one.state,
    overruled: overrule(one, ['errors', 'success', 'compare']),
  })),
});
