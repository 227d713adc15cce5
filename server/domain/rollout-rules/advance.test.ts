import { describe, expect, test } from 'vitest';
import { advance } from './advance.ts';
import { advanceInput, counts, gates, later, ring, start } from './testing/facts.ts';

const done = counts({ succeeded: 10, healthy: 10 });
const waiting = (index: number, changes = {}) => ring({ ring: index, state: 'waiting', openedAt: null, ...changes });

describe('RO-9 and RO-27 rings', () => {
  test('a ring opens only when the one before it passed', () => {
    const half = counts({ succeeded: 5, inFlight: 5 });
    expect(advance(advanceInput([ring({ counts: half }), waiting(1)])).rings[1]?.state).toBe('waiting');
    const result = advance(advanceInput([ring({ counts: done }), waiting(1)]));
    expect(result.rings.map(({ state }) => state)).toEqual(['passed', 'open']);
    expect(result).toMatchObject({ passed: [0], opened: [1], mayBegin: { ring: 1, room: 10 } });
  });

  test('an operator advances it, which skips waiting, but neither a halt nor an approval', () => {
    const open = ring({ counts: counts({ succeeded: 5, inFlight: 5 }) });
    expect(advance(advanceInput([open, waiting(1, { advanced: true })])).rings[1]?.state).toBe('open');
    const unapproved = waiting(1, { advanced: true, approval: true });
    expect(advance(advanceInput([open, unapproved])).rings[1]?.state).toBe('waiting');
    const failing = ring({ counts: counts({ failed: 5 }) });
    expect(advance(advanceInput([failing, waiting(1, { advanced: true })]))).toMatchObject({ state: 'paused' });
  });

  test('the next ring opens after the bake, which starts again if a gate turns to wait', () => {
    const baked = { gates: gates({ bakeSeconds: 1_800 }), counts: done };
    const met = advance(advanceInput([ring(baked), waiting(1)]));
    expect(met).toMatchObject({
      state: 'running',
      next: { code: 'ring_opens', ring: 1, at: later(1_800).toISOString() },
      rings: [{ state: 'baking', metAt: start }, { state: 'waiting' }],
    });
    const baking = { ...baked, state: 'baking' as const, metAt: start };
    const at = (seconds: number, changes = {}) =>
      advance(advanceInput([ring({ ...baking, ...changes }), waiting(1)], {}, { now: later(seconds) })).rings;
    expect(at(1_799)[0]?.state).toBe('baking');
    expect(at(1_800).map(({ state }) => state)).toEqual(['passed', 'open']);
    expect(at(900, { counts: counts({ succeeded: 9, inFlight: 1 }) })[0]).toMatchObject({ state: 'open', metAt: null });
  });

  test('a ring with an approval also waits for a person', () => {
    const rings = (isApproved: boolean) => [ring({ counts: done }), waiting(1, { approval: true, isApproved })];
    expect(advance(advanceInput(rings(false)))).toMatchObject({
      why: [{ code: 'ring_approval', ring: 1 }],
      dueAt: null,
    });
    expect(advance(advanceInput(rings(true))).rings[1]?.state).toBe('open');
  });

  test('a ring without members passes immediately', () => {
    const result = advance(advanceInput([ring({ counts: done }), waiting(1, { size: 0, approval: true }), waiting(2)]));
    expect(result.rings.map(({ state }) => state)).toEqual(['passed', 'passed', 'open']);
  });
});

describe('RO-23 halts come before passes', () => {
  const failing = counts({ failed: 3, succeeded: 7 });

  test('both thresholds in one pass: the rollout pauses once, with all reasons, and nothing opens', () => {
    const bad = ring({ counts: counts({ failed: 20 }), size: 20 });
    const result = advance(advanceInput([bad, waiting(1)]));
    expect(result).toMatchObject({ state: 'paused', pausedBy: 'gate', recall: true, mayBegin: null, opened: [] });
    expect(result.why.map(({ code }) => code)).toEqual(['errors_percent', 'success_unreachable']);
    expect(result.rings.map(({ state }) => state)).toEqual(['halted', 'waiting']);
  });

  test('one ring passes in the pass in which another fails: its verdict is kept, and it opens nothing', () => {
    const passing = ring({ counts: done });
    const result = advance(advanceInput([passing, ring({ ring: 1, counts: failing }), waiting(2)]));
    expect(result.rings.map(({ state }) => state)).toEqual(['open', 'halted', 'waiting']);
    expect(result.rings[0]?.verdicts.every(({ verdict }) => verdict === 'pass')).toBe(true);
    expect(result.passed).toEqual([]);
  });

  test('two rings that fail together pause once, with the reasons of both', () => {
    const result = advance(
      advanceInput([ring({ counts: failing, state: 'passed' }), ring({ ring: 1, counts: failing })]),
    );
    expect(result.why.map(({ ring: index }) => index)).toEqual([0, 1]);
    expect(result).toMatchObject({ state: 'paused', halted: [0, 1] });
  });

  test('pause, abort and the last status in one instant end in the same state, in every order', () => {
    const rings = [ring({ counts: done })];
    // The verbs of people set the state under the row’s lock; the worker then sees it.
    expect(advance(advanceInput(rings, { state: 'paused', pausedBy: 'person' }))).toMatchObject({ state: 'paused' });
    expect(advance(advanceInput(rings, { state: 'aborting' })).state).toBe('aborted');
    expect(advance(advanceInput(rings)).state).toBe('finished');
    expect(advance(advanceInput(rings, { state: 'finished' })).state).toBe('finished');
  });

  test('a paused rollout is judged on: a new halt is added, and known ones are not repeated', () => {
    const why = [{ code: 'person', since: start.toISOString() }];
    const paused = advance(advanceInput([ring({ counts: failing })], { state: 'paused', pausedBy: 'person', why }));
    expect(paused.why.map(({ code }) => code)).toEqual(['person', 'success_unreachable']);
    expect(paused).toMatchObject({ pausedBy: 'gate', halted: [0] });
    const again = advance(advanceInput([ring({ counts: failing, state: 'halted' })], { ...paused, state: 'paused' }));
    expect(again).toMatchObject({ halted: [], why: paused.why });
  });

  test('RO-32 a halt reverts the rollout if its plan says so', () => {
    expect(advance(advanceInput([ring({ counts: failing })], { onHalt: 'revert' })).revertSelf).toBe(true);
    expect(advance(advanceInput([ring({ counts: failing })])).revertSelf).toBe(false);
  });
});

describe('RO-11 room', () => {
  const room = (changes: Parameters<typeof ring>[0], input: Parameters<typeof advanceInput>[2] = {}) =>
    advance(advanceInput([ring({ size: 100, ...changes })], {}, input)).mayBegin?.room ?? 0;

  test('a ramp allows 1, 2, 4, 8 at a time', () => {
    const ramp = gates({ ramp: true });
    expect(room({ gates: ramp })).toBe(1);
    expect(room({ gates: ramp, counts: counts({ soaking: 1, healthy: 1 }) })).toBe(2);
    expect(room({ gates: ramp, counts: counts({ soaking: 3, healthy: 3 }) })).toBe(4);
    expect(room({ gates: ramp, counts: counts({ soaking: 7, healthy: 7, inFlight: 3 }) })).toBe(5);
  });

  test('only published members that are not yet healthy have a place, and none on hold', () => {
    const limit = gates({ inFlight: { count: 5 }, errors: null, success: null });
    expect(room({ gates: limit, counts: counts({ inFlight: 5 }) })).toBe(0);
    expect(room({ gates: limit, counts: counts({ inFlight: 5 }), held: 2 })).toBe(2);
    expect(room({ gates: limit, counts: counts({ failed: 5, soaking: 5, parked: 5 }) })).toBe(5);
    expect(room({ gates: limit }, { portalInFlight: 1_998 })).toBe(2);
    expect(room({ gates: limit }, { portalInFlight: 2_000 })).toBe(0);
  });

  test('a passed ring continues with the members that it left behind, before the next ring', () => {
    const passed = ring({ size: 100, state: 'passed', counts: counts({ succeeded: 96 }) });
    expect(advance(advanceInput([passed, ring({ ring: 1 })])).mayBegin).toMatchObject({ ring: 0, room: 4 });
  });
});

describe('reasons', () => {
  const reason = (input: Parameters<typeof advanceInput>[2], changes = {}) =>
    advance(advanceInput([ring(changes)], {}, input)).why[0];

  test('RO-36 a freeze, with its end', () => {
    const freezes = [{ from: start.toISOString(), to: later(500).toISOString(), reason: 'year end', exempt: [] }];
    expect(reason({ freezes })).toMatchObject({ code: 'freeze', at: later(500).toISOString() });
    expect(advance(advanceInput([ring()], { kind: 'revert' }, { freezes })).mayBegin).not.toBeNull();
  });

  test('RO-35 a closed window, with its next start; running steps continue', () => {
    const windows = [{ days: ['mon' as const], from: '22:00', to: '23:00', timeZone: 'UTC' }];
    expect(reason({}, { windows })).toMatchObject({ code: 'window_closed', at: '2026-07-06T22:00:00.000Z' });
  });

  test('RO-12 the rate, and health that is not judged yet', () => {
    expect(reason({ nextBatchAt: later(2) })).toMatchObject({ code: 'rate', at: later(2).toISOString() });
    expect(reason({ isBehind: true })).toMatchObject({ code: 'catching_up' });
    const begun = [ring({ counts: counts({ inFlight: 10 }) })];
    expect(advance(advanceInput(begun, {}, { isBehind: true }))).toMatchObject({
      why: [{ code: 'catching_up' }, { code: 'steps_open' }],
      dueAt: later(1),
    });
  });

  test('steps that are open, with the time at which the first is judged', () => {
    expect(reason({ nextStepAt: later(30) }, { counts: counts({ inFlight: 10 }) })).toMatchObject({
      code: 'steps_open',
    });
  });

  test('RO-15 members whose availability set or VM is busy', () => {
    expect(reason({}, { counts: counts({ parked: 10 }), setsBusy: 10 })).toMatchObject({ code: 'sets_busy' });
    expect(reason({}, { counts: counts({ parked: 10 }), vmsBusy: 10 })).toMatchObject({ code: 'vms_busy' });
  });

  test('RO-22 a ring in which no member was reached', () => {
    expect(reason({}, { counts: counts({ parked: 10 }) })).toMatchObject({ code: 'nobody_reached' });
  });

  test('keep the time since which they hold', () => {
    const why = [{ code: 'rate', since: later(-500).toISOString() }];
    expect(advance(advanceInput([ring()], { why }, { nextBatchAt: later(2) })).why[0]?.since).toBe(why[0]?.since);
  });
});

describe('the portal pauses', () => {
  test('RO-19 a rollout without progress, unless it waits for a person, a window or a freeze', () => {
    const now = later(86_400);
    const stalled = [ring({ counts: counts({ parked: 10 }) })];
    expect(advance(advanceInput(stalled, {}, { now: later(86_399) })).state).toBe('running');
    expect(advance(advanceInput(stalled, {}, { now }))).toMatchObject({
      state: 'paused',
      pausedBy: 'portal',
      why: [{ code: 'no_progress' }],
    });
    const person = [ring({ counts: done }), waiting(1, { approval: true })];
    expect(advance(advanceInput(person, {}, { now })).state).toBe('running');
  });

  test('a rollout whose version was withdrawn, and one of a restored database', () => {
    const versionWithdrawn = { handler: 'Acme.Lab.Probe', version: '1.1.0.0' };
    expect(advance(advanceInput([ring()], { versionWithdrawn }))).toMatchObject({
      state: 'paused',
      pausedBy: 'portal',
      why: [{ code: 'version_withdrawn', params: versionWithdrawn }],
    });
    expect(advance(advanceInput([ring()], { epochChanged: true }))).toMatchObject({ why: [{ code: 'restored' }] });
  });
});

describe('ends', () => {
  test('a rollout finishes when every ring passed and nothing is open, queued or parked', () => {
    expect(advance(advanceInput([ring({ counts: done })]))).toMatchObject({ state: 'finished', dueAt: null });
    const open = ring({ size: 20, counts: counts({ succeeded: 19, soaking: 1 }) });
    expect(advance(advanceInput([open])).state).toBe('running');
  });

  test('it keeps for parked members and newcomers, for 14 days, and then they are unreached', () => {
    const parked = ring({ counts: counts({ succeeded: 9, parked: 1 }) });
    const keeping = advance(advanceInput([parked]));
    expect(keeping).toMatchObject({ state: 'keeping', why: [{ code: 'vms_parked' }] });
    const kept = { ...parked, ...keeping.rings[0] };
    const at = (days: number) => advance(advanceInput([kept], { state: 'keeping' }, { now: later(days * 86_400) }));
    expect(at(13.9).state).toBe('keeping');
    expect(at(14)).toMatchObject({ state: 'finished', unreach: true });
    const joined = advance(advanceInput([ring({ counts: done })], { newcomers: 'include' }));
    expect(joined.state).toBe('keeping');
  });

  test('RO-21 while it keeps, errors count from what began in it', () => {
    const keeping = advance(
      advanceInput([ring({ size: 100, counts: counts({ succeeded: 95, failed: 4, parked: 1 }) })]),
    );
    expect(keeping.rings[0]?.overruled).toMatchObject({ decided: 99, failed: 4 });
  });

  test('RO-30 an abort ends when nothing is open, and takes back what was not delivered', () => {
    const open = ring({ counts: counts({ inFlight: 1, parked: 2 }) });
    expect(advance(advanceInput([open], { state: 'aborting' }, { nextStepAt: later(50) }))).toMatchObject({
      state: 'aborting',
      recall: true,
      dueAt: later(50),
    });
    const idle = ring({ counts: counts({ parked: 2 }) });
    expect(advance(advanceInput([idle], { state: 'aborting' }))).toMatchObject({ state: 'aborted', unreach: true });
  });

  test('RO-37 a scheduled rollout is checked when its time has come, and not before', () => {
    const scheduled = (seconds: number) =>
      advance(advanceInput([waiting(0)], { state: 'scheduled', startAt: later(10) }, { now: later(seconds) }));
    expect(scheduled(9)).toMatchObject({ state: 'scheduled', next: { code: 'start_at' }, dueAt: later(10) });
    expect(scheduled(10).state).toBe('checking');
    expect(scheduled(-9_000).state).toBe('scheduled');
  });
});
