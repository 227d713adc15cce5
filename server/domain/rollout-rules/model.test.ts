import { describe, expect, test } from 'vitest';
import { inFlightOf, queuedOf } from './counts.ts';
import { later, start } from './testing/facts.ts';
import { isOpen, type Member, newWorld, pass, resume, type World } from './testing/model.ts';
import { endedStates, stepStates } from './words.ts';

/** Everything that can happen to a member between two passes. */
const happenings: readonly ((member: Member, seconds: number) => Member | null)[] = [
  (member, seconds) =>
    isOpen(member) && !member.fetched && !member.silent && !member.held
      ? { ...member, fetched: true, fetchedAt: seconds, since: seconds }
      : null,
  ...(['healthy', 'failed', 'degraded'] as const).map(
    (word) => (member: Member, seconds: number) =>
      isOpen(member) && member.fetched && member.word !== word ? { ...member, word, since: seconds } : null,
  ),
  (member) => (member.step === null || isOpen(member) ? { ...member, silent: true } : null),
  (member) =>
    member.silent || member.step?.cause === 'not-fetching' ? { ...member, silent: false, heard: true } : null,
  (member) => (isOpen(member) && !member.held ? { ...member, held: true } : null),
  (member) => (member.held ? { ...member, held: false } : null),
  (member) => (isOpen(member) ? { ...member, changed: true } : null),
];

/** Everything that a person can do. */
const acts: readonly ((world: World) => World | null)[] = [
  (world) =>
    world.rollout.state === 'running'
      ? { ...world, rollout: { ...world.rollout, state: 'paused', pausedBy: 'person', why: [{ code: 'person' }] } }
      : null,
  (world) => (world.rollout.state === 'paused' ? resume(world) : null),
  (world) => (isEnded(world) ? null : { ...world, rollout: { ...world.rollout, state: 'aborting', pausedBy: null } }),
  (world) => ({ ...world, rings: world.rings.map((one) => ({ ...one, isApproved: true })) }),
  (world) => ({ ...world, rings: world.rings.map((one, index) => (index === 1 ? { ...one, advanced: true } : one)) }),
];

const isEnded = ({ rollout }: World): boolean => (endedStates as readonly string[]).includes(rollout.state);

/** The state without absolute times, so that equal situations at other times are one. */
function keyOf({ seconds, rollout, rings, members }: World): string {
  const ago = (time: Date | null) =>
    time === null ? null : Math.round((later(seconds).getTime() - time.getTime()) / 1_000);
  return JSON.stringify([
    rollout.state,
    rollout.why.map(({ code }) => code),
    rings.map((one) => [one.state, one.isApproved, one.advanced, ago(one.metAt), one.overruled]),
    members.map(({ step, fetchedAt, since, ...rest }) => [
      { ...rest, since: isOpen({ ...rest, step, fetchedAt, since }) ? seconds - since : 0 },
      step && [
        step.state,
        step.cause,
        step.attempt,
        step.breaks,
        ago(step.healthyAt),
        ago(step.concludedAt),
        ago(step.publishedAt),
      ],
    ]),
  ]);
}

/** A pass now, and a pass when the rollout is due. */
const passes = (world: World): World[] => [
  pass(world),
  ...(world.dueAt !== null && world.dueAt > world.seconds ? [pass({ ...world, seconds: world.dueAt })] : []),
];

function* successors(world: World): Generator<World> {
  yield* passes(world);
  for (const act of acts) {
    const next = act(world);
    if (next !== null) yield* passes(next);
  }
  for (const [index, member] of world.members.entries()) {
    for (const happen of happenings) {
      const changed = happen(member, world.seconds);
      if (changed !== null) yield* passes({ ...world, members: world.members.with(index, changed) });
    }
  }
}

/** Visits reachable states, the nearest first, up to a number. */
function explore(first: World, limit: number, visit: (world: World, before: World) => void): World[] {
  const seen = new Set([keyOf(first)]);
  const queue = [first];
  for (let at = 0; at < queue.length && queue.length < limit; at += 1) {
    const before = queue[at] as World;
    for (const world of successors(before)) {
      const key = keyOf(world);
      if (seen.has(key)) continue;
      seen.add(key);
      visit(world, before);
      queue.push(world);
    }
  }
  return queue;
}

/** The latest time by which a step of the model is decided if its clock runs: fetch, or deadline, settling and soaks. */
const longestStep = 200 + 120 + 3 * 60;

describe.each(['leave', 'revert'] as const)('reachable states, with onStepFailure %s', (onStepFailure) => {
  test('RO-19 every open step has a time, and every rollout a time or a person', () => {
    const visited = explore(newWorld(onStepFailure), 4_000, (world) => {
      for (const member of world.members.filter(isOpen)) {
        const { dueAt, publishedAt } = member.step ?? {};
        expect(dueAt, keyOf(world)).toBeInstanceOf(Date);
        if (member.held || !dueAt) continue;
        const from = member.fetched ? later(member.fetchedAt) : (publishedAt ?? start);
        const end = from.getTime() + (member.fetched ? longestStep : 300) * 1_000;
        // A step whose attempt waits has its own time, and a judged one is looked at again within seconds.
        if (member.step?.state !== 'retrying')
          expect(dueAt.getTime()).toBeLessThanOrEqual(Math.max(end, later(world.seconds + 10).getTime()));
      }
      if (isEnded(world)) return;
      const { state, why } = world.rollout;
      const isPersons = state === 'paused' || why.some(({ code }) => code === 'ring_approval');
      expect(world.dueAt !== null || isPersons, keyOf(world)).toBe(true);
      if (state === 'paused') expect(why.length).toBeGreaterThan(0);
      const begins = world.last?.mayBegin !== null;
      if (state === 'running' && !begins) expect(why.length, keyOf(world)).toBeGreaterThan(0);
    });
    expect(visited.length).toBeGreaterThanOrEqual(4_000);
  });

  test('RO-19 if nothing else happens, every step is decided, and the rollout ends or waits for a person', () => {
    const visited = explore(newWorld(onStepFailure), 3_000, () => {});
    for (const world of visited.filter((_, index) => index % 11 === 0)) {
      let last = world;
      for (let passed = 0; passed < 300 && last.dueAt !== null && !isEnded(last); passed += 1)
        last = pass({ ...last, seconds: Math.max(last.dueAt, last.seconds) });
      const open = last.members.filter((member) => isOpen(member) && !member.held);
      expect(open, keyOf(last)).toEqual([]);
      const isHeld = last.members.some((member) => isOpen(member) && member.held);
      const isPersons =
        last.rollout.state === 'paused' || last.rollout.why.some(({ code }) => code === 'ring_approval');
      expect(isEnded(last) || isPersons || isHeld, keyOf(last)).toBe(true);
    }
  });

  test('RO-23 a pass that halts opens, passes and begins nothing, and a stopped rollout begins nothing', () => {
    explore(newWorld(onStepFailure), 3_000, ({ last, rollout, rings }) => {
      if (last === null) return;
      const halts = last.rings.some(({ verdicts }) => verdicts.some(({ verdict }) => verdict === 'halt'));
      if (halts) expect(['paused', 'aborting', 'aborted']).toContain(rollout.state);
      if (halts) expect([last.opened, last.passed, last.mayBegin]).toEqual([[], [], null]);
      if (rollout.state !== 'running' && rollout.state !== 'keeping') expect(last.mayBegin).toBeNull();
      for (const { size, counts } of rings) {
        const steps = stepStates.reduce((sum, state) => sum + counts[state], 0);
        expect(queuedOf(size, counts) - counts.recalled + steps).toBe(size);
        expect(inFlightOf(counts)).toBeLessThanOrEqual(size);
      }
    });
  });
});
