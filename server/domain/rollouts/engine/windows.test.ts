import { beforeEach, describe, expect, test } from 'vitest';
import type { Freeze, Window } from '#server/domain/rollout-rules/stored.ts';
import type { GivenVm } from '#server/testing/fleet.ts';
import { pauseRollout } from '../pause-rollout.ts';
import { type GivenRollout, type RolloutStage, rolloutStage } from '../testing/rollout-stage.ts';

const everyDay: Window['days'] = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
let stage: RolloutStage;
let vms: [GivenVm, GivenVm];

beforeEach(async () => {
  stage = await rolloutStage();
  vms = (await stage.givenFleet(2)) as [GivenVm, GivenVm];
});

/** The start of the minute that is this many minutes after the test's start. */
function minuteAt(minutes: number): Date {
  const time = stage.at(minutes * 60);
  return new Date(Math.floor(time.getTime() / 60_000) * 60_000);
}

/** Seconds from the test's start. */
const secondsAt = (time: Date): number => (time.getTime() - stage.at(0).getTime()) / 1_000;

/** A daily window in UTC from a minute to another one, counted from the test's start. */
const window = (from: number, to: number): Window => ({
  days: everyDay,
  from: minuteAt(from).toISOString().slice(11, 16),
  to: minuteAt(to).toISOString().slice(11, 16),
  timeZone: 'UTC',
});

/** Creates a rollout whose rings need this many seconds for each step. */
async function givenPlanned(longestSeconds: number, given: GivenRollout): Promise<string> {
  return stage.givenRollout(vms, { ...given, longestSeconds });
}

describe('RO-35 a window', () => {
  test('lets no step begin while it is closed, and says when it opens', async () => {
    const id = await stage.givenRollout(vms, { windows: [window(30, 60)] });
    await stage.pass(1);
    expect(await stage.counts(id)).toEqual({ members: 2, queued: 2 });
    const opens = minuteAt(30);
    expect(await stage.rollout(id)).toMatchObject({
      state: 'running',
      why: [{ code: 'window_closed', ring: 0, at: opens.toISOString() }],
      next: { code: 'window_closed' },
    });
    await stage.look(secondsAt(opens) - 1);
    expect(await stage.counts(id)).toEqual({ members: 2, queued: 2 });
    await stage.look(secondsAt(opens));
    expect(await stage.counts(id)).toEqual({ members: 2, inFlight: 2 });
  });

  test('does not stop steps that run past its end, but the next ones wait for the next day', async () => {
    const id = await stage.givenRollout(vms, {
      windows: [window(-5, 10)],
      rings: [{ size: 2, inFlight: { count: 1 } }],
    });
    await stage.pass(1);
    const [first] = (await stage.vmsIn(id, vms, 'inFlight')) as [GivenVm];
    await first.deliver(stage.at(2));
    await stage.look(11 * 60);
    expect(await stage.counts(id)).toEqual({ members: 2, inFlight: 1, queued: 1 });
    await stage.report(first, 11 * 60 + 1);
    await stage.look(11 * 60 + 2);
    expect(await stage.counts(id)).toEqual({ members: 2, succeeded: 1, queued: 1 });
    const tomorrow = new Date(minuteAt(-5).getTime() + 86_400_000);
    expect((await stage.rollout(id)).why).toMatchObject([{ code: 'window_closed', at: tomorrow.toISOString() }]);
    await stage.look(secondsAt(tomorrow));
    expect(await stage.counts(id)).toEqual({ members: 2, succeeded: 1, inFlight: 1 });
  });

  test('lets a step begin only if it fits into what is left', async () => {
    const id = await givenPlanned(1_200, { windows: [window(-5, 15)] });
    await stage.pass(1);
    expect(await stage.counts(id)).toEqual({ members: 2, queued: 2 });
    expect((await stage.rollout(id)).why).toMatchObject([{ code: 'window_closed' }]);
    const fits = await givenPlanned(300, { windows: [window(-5, 15)] });
    await stage.look(2);
    expect(await stage.counts(fits)).toEqual({ members: 2, inFlight: 2 });
  });

  test('of a ring replaces the windows of the rollout', async () => {
    const id = await stage.givenRollout(vms, {
      windows: [window(30, 60)],
      rings: [{ size: 1, windows: [window(-5, 20)] }, { size: 1 }],
    });
    await stage.pass(1);
    expect(await stage.counts(id)).toEqual({ members: 2, inFlight: 1, queued: 1 });
    const [first] = (await stage.vmsIn(id, vms, 'inFlight')) as [GivenVm];
    await stage.succeed(first, 10);
    await stage.look(11);
    expect((await stage.rings(id)).map(({ state }) => state)).toEqual(['passed', 'open']);
    expect((await stage.rollout(id)).why).toMatchObject([{ code: 'window_closed', ring: 1 }]);
  });

  test('that is closed does not count as a lack of progress', async () => {
    const id = await stage.givenRollout(vms, { windows: [window(120, 180)], noProgressSeconds: 60 });
    await stage.pass(1);
    await stage.look(3_600);
    expect(await stage.rollout(id)).toMatchObject({ state: 'running', why: [{ code: 'window_closed' }] });
  });
});

describe('RO-36 a freeze', () => {
  const freeze = (from: number, to: number, exempt: string[] = []): Freeze => ({
    from: stage.at(from).toISOString(),
    to: stage.at(to).toISOString(),
    reason: 'end of the year',
    exempt,
  });

  test('lets no step begin; judging and recalls continue', async () => {
    const id = await stage.givenRollout(vms, { rings: [{ size: 2, inFlight: { count: 1 } }] });
    await stage.pass(1);
    const [first] = (await stage.vmsIn(id, vms, 'inFlight')) as [GivenVm];
    await stage.setRules(2, { freezes: [freeze(0, 600)] });
    await stage.succeed(first, 10);
    await stage.look(11);
    expect(await stage.counts(id)).toEqual({ members: 2, succeeded: 1, queued: 1 });
    expect(await stage.rollout(id)).toMatchObject({
      state: 'running',
      why: [{ code: 'freeze', params: { reason: 'end of the year' }, at: stage.at(600).toISOString() }],
    });
    await stage.look(600);
    expect(await stage.counts(id)).toEqual({ members: 2, succeeded: 1, inFlight: 1 });
    await stage.setRules(610, { freezes: [freeze(600, 5_000)] });
    await pauseRollout(stage.as(611), { id });
    await stage.look(612);
    expect(await stage.counts(id)).toEqual({ members: 2, succeeded: 1, queued: 1 });
    expect((await stage.vmsIn(id, vms, 'recalled')).length).toBe(1);
  });

  test('does not bind a rollout that an admin exempted', async () => {
    const [one, two] = vms;
    const exempt = await stage.givenRollout([one]);
    const bound = await stage.givenRollout([two]);
    await stage.setRules(0, { freezes: [freeze(0, 600, [exempt])] });
    await stage.pass(1);
    expect(await stage.counts(exempt)).toEqual({ members: 1, inFlight: 1 });
    expect(await stage.counts(bound)).toEqual({ members: 1, queued: 1 });
  });

  test('does not bind a revert', async () => {
    const of = await stage.givenRollout(vms);
    await stage.pass(1);
    for (const vm of vms) await stage.succeed(vm, 10);
    await stage.look(11);
    await stage.setRules(12, { freezes: [freeze(0, 600)] });
    const id = await stage.givenRollout(vms, { kind: 'revert', planned: 'revert', of });
    await stage.look(20);
    expect(await stage.counts(id)).toEqual({ members: 2, inFlight: 2 });
  });

  test('does not count as a lack of progress, and stops no ring from passing', async () => {
    const id = await stage.givenRollout(vms, { noProgressSeconds: 60, rings: [{ size: 1 }, { size: 1 }] });
    await stage.pass(1);
    const [first] = (await stage.vmsIn(id, vms, 'inFlight')) as [GivenVm];
    await stage.setRules(2, { freezes: [freeze(0, 6_000)] });
    await stage.succeed(first, 10);
    await stage.look(11);
    expect((await stage.rings(id)).map(({ state }) => state)).toEqual(['passed', 'open']);
    await stage.look(5_000);
    expect(await stage.rollout(id)).toMatchObject({ state: 'running', why: [{ code: 'freeze' }] });
    await stage.look(6_001);
    expect(await stage.counts(id)).toEqual({ members: 2, succeeded: 1, inFlight: 1 });
  });
});
