import { describe, expect, test } from 'vitest';
import { advance, type RingFacts } from './advance.ts';
import { keepEnd, workOf } from './keeping.ts';
import { advanceInput, counts, later, ring, start } from './testing/facts.ts';

const day = 86_400;
const passed = (changes: Partial<RingFacts> = {}) =>
  ring({ state: 'passed', metAt: start, passedAt: start, counts: counts({ succeeded: 9, parked: 1 }), ...changes });
const pass = (rings: RingFacts[], of: Parameters<typeof advanceInput>[1] = {}, now = start) =>
  advance(advanceInput(rings, { state: 'keeping', ...of }, { now }));

describe('RO-16 a rollout that keeps', () => {
  test('names how many VMs are parked, and when it gives them up', () => {
    expect(pass([passed()])).toMatchObject({
      ...{ state: 'keeping', mayBegin: null, recall: false, unreach: false },
      why: [{ code: 'vms_parked', params: { parked: 1 }, at: later(14 * day).toISOString() }],
      next: { code: 'vms_parked' },
    });
  });

  test('begins a VM that is back, even on the last day', () => {
    const back = passed({ ready: 1 });
    expect(pass([back], {}, later(14 * day - 1))).toMatchObject({ state: 'keeping', mayBegin: { ring: 0, room: 1 } });
  });

  test('begins none after its end, but waits for open steps', () => {
    const late = passed({ size: 11, ready: 1, counts: counts({ succeeded: 9, parked: 1, inFlight: 1 }) });
    expect(pass([late], {}, later(14 * day))).toMatchObject({
      ...{ state: 'keeping', mayBegin: null },
      why: [{ code: 'steps_open', params: { open: 1 } }],
    });
  });

  test('RO-19 ends even if a parked VM could begin at that moment, or was deleted', () => {
    expect(pass([passed({ ready: 1 })], {}, later(14 * day))).toMatchObject({ state: 'finished', unreach: true });
    expect(pass([passed({ ready: 1 })], { keepDays: 0 })).toMatchObject({ state: 'finished', dueAt: null });
  });

  test('finishes when no VM is parked any longer', () => {
    expect(pass([passed({ counts: counts({ succeeded: 10 }) })])).toMatchObject({ state: 'finished', dueAt: null });
    expect(pass([passed({ counts: counts({ succeeded: 9, soaking: 1 }) })]).state).toBe('keeping');
  });

  test('is not paused for a lack of progress', () => {
    expect(pass([passed()], { progressAt: later(-20 * day) }).state).toBe('keeping');
  });

  test('counts its days from the ring that passed last', () => {
    const rings = [
      passed({ passedAt: later(day) }),
      passed({ ring: 1, passedAt: later(3 * day) }),
      passed({ ring: 2 }),
    ];
    expect(pass(rings, { keepDays: 2 }, later(5 * day - 1)).state).toBe('keeping');
    expect(pass(rings, { keepDays: 2 }, later(5 * day))).toMatchObject({ state: 'finished', unreach: true });
  });

  test('keeps for no time, if its plan says so', () => {
    const first = pass([passed()], { state: 'running', keepDays: 0 });
    expect(first).toMatchObject({ state: 'keeping', dueAt: start });
    expect(pass([passed()], { keepDays: 0 })).toMatchObject({ state: 'finished', unreach: true });
  });
});

describe('a rollout that newcomers join', () => {
  const newcomers = 'include' as const;

  test('keeps without end, even if no VM is parked, and says nothing', () => {
    const complete = passed({ counts: counts({ succeeded: 10 }) });
    expect(pass([complete], { newcomers }, later(900 * day))).toMatchObject({ state: 'keeping', why: [] });
    expect(pass([passed()], { newcomers }, later(900 * day)).why).toEqual([
      { code: 'vms_parked', params: { parked: 1 }, since: later(900 * day).toISOString() },
    ]);
  });

  test('begins them in the last ring', () => {
    const joined = passed({ ring: 1, size: 12, counts: counts({ succeeded: 10 }) });
    expect(pass([passed(), joined], { newcomers }).mayBegin).toMatchObject({ ring: 1, room: 2 });
  });

  test('RO-21 stops if those that began since then fail, and not for earlier failures', () => {
    const early = passed({ size: 100, counts: counts({ succeeded: 95, failed: 5 }) });
    const kept = { ...early, ...pass([early], { state: 'running', newcomers }).rings[0] };
    const after = (failed: number, succeeded: number) =>
      pass([{ ...kept, size: 120, counts: counts({ failed: 5 + failed, succeeded: 95 + succeeded }) }], { newcomers });
    expect(after(1, 19).state).toBe('keeping');
    expect(after(2, 18)).toMatchObject({ state: 'paused', pausedBy: 'gate', why: [{ code: 'errors_percent' }] });
  });
});

test('only a rollout that keeps has an end, so that parked VMs do not end a running one', () => {
  expect(keepEnd(advanceInput([passed()]))).toBeNull();
  expect(pass([passed(), ring({ ring: 1 })], { state: 'running' }, later(14 * day))).toMatchObject({
    ...{ state: 'running', mayBegin: { ring: 1, room: 10 } },
  });
});

test('recalled members and parked ones that are back are work; other parked ones are not', () => {
  const of = (changes: Partial<RingFacts>) => workOf(advanceInput([passed(changes)]));
  expect(of({})).toBe(0);
  expect(of({ ready: 1 })).toBe(1);
  expect(of({ counts: counts({ succeeded: 9, recalled: 1 }) })).toBe(1);
  expect(of({ counts: counts({ succeeded: 7, reverting: 1, retrying: 1, soaking: 1 }) })).toBe(3);
});
