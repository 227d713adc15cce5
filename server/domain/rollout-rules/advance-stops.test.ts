import { describe, expect, test } from 'vitest';
import { advance, type RingFacts } from './advance.ts';
import { advanceInput, counts, gates, later, ring, start } from './testing/facts.ts';
import { rolloutStates } from './words.ts';

type Of = Parameters<typeof advanceInput>[1];
type More = Parameters<typeof advanceInput>[2];

const pass = (rings: RingFacts[], of: Of = {}, more: More = {}) => advance(advanceInput(rings, of, more));
const waiting = (changes: Partial<RingFacts> = {}) => ring({ ring: 1, state: 'waiting', openedAt: null, ...changes });
const failing = ring({ counts: counts({ failed: 3, succeeded: 7 }) });
const open = ring({ counts: counts({ inFlight: 10 }) });
const done = counts({ succeeded: 10 });

test.each(['draft', 'planning', 'planned', 'checking', 'aborted', 'finished'] as const)(
  'a rollout that is %s does not change, whatever its rings say',
  (state) => {
    for (const rings of [[failing], [ring()], [ring({ counts: done })]])
      expect(pass(rings, { state, epochChanged: true })).toMatchObject({
        ...{ state, recall: false, mayBegin: null, unreach: false, dueAt: null },
        ...{ opened: [], passed: [], halted: [] },
      });
  },
);

describe('RO-28 a pause', () => {
  test.each(rolloutStates)('%s: goal states are taken back only from a rollout that stops', (state) => {
    const stops = state === 'paused' || state === 'aborting';
    expect(pass([open], { state, startAt: later(60) }).recall).toBe(stops);
  });

  test('lasts, although its rings could pass, and is judged again with the next open step', () => {
    const paused = { state: 'paused', pausedBy: 'person', why: [{ code: 'person' }] } as const;
    const result = pass([ring({ counts: done }), waiting()], paused, { nextStepAt: later(30) });
    expect(result.rings.map(({ state }) => state)).toEqual(['open', 'waiting']);
    expect(result).toMatchObject({ state: 'paused', pausedBy: 'person', dueAt: later(30), passed: [], mayBegin: null });
    expect(pass([ring({ counts: done })], paused).dueAt).toBeNull();
  });

  test('of a person also gets the portal’s reasons, once, and is still the person’s', () => {
    const paused = { state: 'paused', pausedBy: 'person', epochChanged: true } as const;
    const first = pass([open], { ...paused, why: [{ code: 'person' }] });
    expect(first).toMatchObject({ pausedBy: 'person', why: [{ code: 'person' }, { code: 'restored' }] });
    expect(pass([open], { ...paused, why: first.why }).why).toEqual(first.why);
  });

  test('names a second ring that halts later, and only that one as new', () => {
    const second = ring({ ...failing, ring: 1 });
    const first = pass([failing, waiting()]);
    const both = pass([{ ...failing, state: 'halted' }, second], { state: 'paused', why: first.why });
    expect(both.why.map(({ code, ring: index }) => [code, index])).toEqual([
      ['success_unreachable', 0],
      ['success_unreachable', 1],
    ]);
    expect(both).toMatchObject({ halted: [1], rings: [{ state: 'halted' }, { state: 'halted' }] });
  });
});

describe('RO-23 gates and the portal stop a rollout in the same pass', () => {
  const versionWithdrawn = { handler: 'Acme.Lab.Probe', version: '1.1.0.0' };

  test('it pauses once, by the gate, with all reasons', () => {
    const result = pass([failing], { epochChanged: true, versionWithdrawn });
    expect(result).toMatchObject({ state: 'paused', pausedBy: 'gate', halted: [0] });
    expect(result.why.map(({ code }) => code)).toEqual(['success_unreachable', 'restored', 'version_withdrawn']);
  });

  test('a halt comes before a newer rollout and before the end', () => {
    expect(pass([failing], { isSuperseded: true }).state).toBe('paused');
    expect(pass([{ ...failing, state: 'passed', passedAt: start }], { state: 'keeping' }).state).toBe('paused');
  });
});

describe('RO-32 the revert of a rollout that halts', () => {
  const onHalt = 'revert' as const;

  test.each<[string, RingFacts[], Of, boolean]>([
    ['a gate halts', [failing], {}, true],
    ['a gate halts while a person’s pause lasts', [failing], { state: 'paused', why: [{ code: 'person' }] }, true],
    [
      'the gate’s reason is known already',
      [failing],
      { state: 'paused', why: [{ code: 'success_unreachable', ring: 0 }] },
      false,
    ],
    ['the portal pauses it', [open], { epochChanged: true }, false],
    ['it is a revert itself', [failing], { kind: 'revert' }, false],
    ['it is a revert itself, and paused', [failing], { kind: 'revert', state: 'paused' }, false],
    ['it is being aborted', [failing], { state: 'aborting' }, false],
  ])('when %s', (_, rings, of, reverts) => {
    expect(pass(rings, { ...of, onHalt }).revertSelf).toBe(reverts);
  });
});

test('RO-38 a rollout that a newer one supersedes ends without a person', () => {
  const superseded = { kind: 'automatic', isSuperseded: true } as const;
  expect(pass([open], superseded, { nextStepAt: later(40) })).toMatchObject({
    ...{ state: 'aborting', recall: true, mayBegin: null, dueAt: later(40) },
    why: [{ code: 'steps_open', params: { open: 10 } }],
  });
  expect(pass([ring()], superseded)).toMatchObject({ state: 'aborted', unreach: true, why: [] });
});

test('RO-30 an abort looks again within a minute, even if no step has a time', () => {
  expect(pass([open], { state: 'aborting', pausedBy: 'gate' })).toMatchObject({ pausedBy: null, dueAt: later(60) });
});

describe('RO-19 when a rollout is looked at again', () => {
  const full = ring({ gates: gates({ inFlight: { count: 4 } }), counts: counts({ inFlight: 4 }) });
  const closed = [{ days: ['tue' as const], from: '02:00', to: '03:00', timeZone: 'UTC' }];
  const person = [ring({ counts: done }), waiting({ approval: true })];

  test.each<[string, RingFacts[], More, Date | null]>([
    ['immediately while members may begin', [ring()], {}, start],
    ['with the next open step', [full], { nextStepAt: later(20) }, later(20)],
    ['immediately if an open step is overdue', [full], { nextStepAt: later(-20) }, start],
    ['after a minute, if a step or window is later', [ring({ windows: closed })], { nextStepAt: later(90) }, later(60)],
    ['when the rate allows it', [ring()], { nextBatchAt: later(7) }, later(7)],
    ['after a second while health is not judged yet', [ring()], { isBehind: true }, later(1)],
    ['never, if only a person moves it', person, {}, null],
    ['with an open step, if a person is needed too', person, { nextStepAt: later(300) }, later(300)],
  ])('%s', (_, rings, more, dueAt) => {
    expect(pass(rings, {}, more).dueAt).toEqual(dueAt);
  });
});

describe('RO-19 a rollout without progress', () => {
  const now = later(86_400);
  const parked = ring({ counts: counts({ parked: 10 }) });
  const baking = ring({ state: 'baking', metAt: now, counts: done, gates: gates({ bakeSeconds: 60 }) });
  const monday = [{ days: ['mon' as const], from: '02:00', to: '03:00', timeZone: 'UTC' }];
  const freezes = [{ from: start.toISOString(), to: later(90_000).toISOString(), reason: 'year end', exempt: [] }];

  test.each<[string, RingFacts[], More, string]>([
    ['waits for members to be reached', [parked], {}, 'paused'],
    ['waits for busy availability sets', [{ ...parked, setsBusy: 10 }], {}, 'paused'],
    ['waits for open steps', [open], {}, 'paused'],
    ['waits for a window', [ring({ windows: monday })], {}, 'running'],
    ['waits for the end of a freeze', [ring()], { freezes }, 'running'],
    ['waits for the end of a bake', [baking, waiting()], {}, 'running'],
    ['has members that may begin now', [ring()], {}, 'running'],
  ])('that %s', (_, rings, more, state) => {
    expect(pass(rings, {}, { ...more, now }).state).toBe(state);
  });

  test('is looked at when its time is over, and not paused before it started', () => {
    expect(pass([parked], { noProgressSeconds: 40 }).dueAt).toEqual(later(40));
    expect(pass([parked], { progressAt: null }, { now }).state).toBe('running');
    expect(pass([parked], { progressAt: later(60_000) }, { now }).state).toBe('running');
  });

  test('says so, and takes back what was not fetched', () => {
    expect(pass([open], {}, { now, nextStepAt: later(86_500) })).toMatchObject({
      ...{ pausedBy: 'portal', recall: true, revertSelf: false, halted: [], dueAt: later(86_500) },
      why: [{ code: 'no_progress', since: now.toISOString() }],
    });
  });
});
