import { describe, expect, test } from 'vitest';
import type { RingFacts } from './advance-facts.ts';
import { comparedRings, judgeGates, overrule } from './gates.ts';
import { counts, gates, ring } from './testing/facts.ts';
import type { GateName } from './words.ts';

const verdictOf = (gate: GateName, facts: Partial<RingFacts>, { isLast = false, rings = 1 } = {}) =>
  judgeGates({ ...ring(facts), isLast }, rings).find((one) => one.gate === gate);

describe('RO-21 errors', () => {
  const judge = (errors: RingFacts['gates']['errors'], failed: number, succeeded: number) =>
    verdictOf('errors', { size: 10_000, gates: gates({ errors }), counts: counts({ failed, succeeded }) })?.verdict;

  test.each([
    [{ count: 1 }, 0, 50, 'pass'],
    [{ count: 1 }, 1, 0, 'halt'],
    [{ count: 3 }, 2, 0, 'pass'],
    [{ count: 3 }, 3, 500, 'halt'],
    [{ share: 500, atLeast: 20 }, 1, 19, 'pass'],
    [{ share: 500, atLeast: 20 }, 2, 18, 'halt'],
    [{ share: 500, atLeast: 20 }, 19, 0, 'pass'],
    [{ share: 500, atLeast: 20 }, 50, 950, 'pass'],
    [{ share: 500, atLeast: 20 }, 51, 949, 'halt'],
    [{ share: 0, atLeast: 1 }, 1, 99, 'halt'],
    [{ share: 0, atLeast: 20 }, 1, 18, 'pass'],
    [{ share: 0, atLeast: 20 }, 1, 19, 'halt'],
    [{ share: 10_000, atLeast: 1 }, 100, 0, 'pass'],
  ] as const)('%j with %i failed and %i succeeded says %s', (errors, failed, succeeded, verdict) => {
    expect(judge(errors, failed, succeeded)).toBe(verdict);
  });

  test('put-back and stuck VMs count as failed, and exempt ones do not count', () => {
    const facts = {
      gates: gates({ errors: { count: 4 } }),
      counts: counts({ failed: 1, reverted: 1, stuck: 1, reverting: 1 }),
    };
    expect(verdictOf('errors', facts)).toMatchObject({ verdict: 'halt', code: 'errors_count', params: { failed: 4 } });
    const exempt = counts({ parked: 3, skipped: 3, overtaken: 2, gone: 2 });
    expect(verdictOf('errors', { counts: exempt })).toMatchObject({ verdict: 'pass', params: { decided: 0 } });
  });

  test('RO-29 counts from zero after it was overruled', () => {
    const before = ring({ size: 100, counts: counts({ failed: 5, succeeded: 20 }) });
    const overruled = overrule(before, ['errors']);
    const after = (failed: number, succeeded: number) =>
      verdictOf('errors', { ...before, overruled, counts: counts({ failed, succeeded }) });
    expect(after(6, 38)).toMatchObject({ verdict: 'pass', params: { failed: 1, decided: 19 } });
    expect(after(7, 38)).toMatchObject({ verdict: 'halt', params: { failed: 2, decided: 20 } });
  });
});

describe('RO-22 success', () => {
  const judge = (size: number, of: Parameters<typeof counts>[0], success = { share: 9_500, atLeast: 1 }) =>
    verdictOf('success', { size, gates: gates({ success }), counts: counts(of) });

  test('95 % of 10 means all 10', () => {
    expect(judge(10, { succeeded: 9 })).toMatchObject({ verdict: 'wait', params: { needed: 10 } });
    expect(judge(10, { succeeded: 10 })?.verdict).toBe('pass');
    expect(judge(20, { succeeded: 19 })?.verdict).toBe('pass');
  });

  test('halts as soon as it can no longer be reached', () => {
    expect(judge(10, { succeeded: 3, failed: 1 })).toMatchObject({ verdict: 'halt', code: 'success_unreachable' });
    expect(judge(20, { failed: 1 })?.verdict).toBe('wait');
    expect(judge(20, { failed: 2 })?.verdict).toBe('halt');
  });

  test('exempt members are in no denominator', () => {
    expect(judge(10, { succeeded: 2, parked: 4, skipped: 2, overtaken: 1, gone: 1 })?.verdict).toBe('pass');
    expect(judge(10, { succeeded: 1, parked: 8 })?.verdict).toBe('wait');
  });

  test('at least so many must have succeeded; in a smaller ring, all of it', () => {
    expect(judge(10, { succeeded: 4 }, { share: 0, atLeast: 5 })?.verdict).toBe('wait');
    expect(judge(10, { succeeded: 5 }, { share: 0, atLeast: 5 })?.verdict).toBe('pass');
    expect(judge(3, { succeeded: 2 }, { share: 0, atLeast: 5 })?.verdict).toBe('wait');
    expect(judge(3, { succeeded: 3 }, { share: 0, atLeast: 5 })?.verdict).toBe('pass');
  });

  test('a ring in which every member is exempt waits until one is reached', () => {
    expect(judge(3, { parked: 2, skipped: 1 })).toMatchObject({ verdict: 'wait', code: 'nobody_reached' });
    expect(judge(3, { skipped: 3 })).toMatchObject({ verdict: 'wait', code: 'nobody_reached' });
  });

  test('a last ring in which nothing is left to reach passes, because it protects no other ring', () => {
    expect(verdictOf('success', { size: 3, counts: counts({ skipped: 3 }) }, { isLast: true })?.verdict).toBe('pass');
    expect(verdictOf('success', { size: 3, counts: counts({ parked: 3 }) }, { isLast: true })?.verdict).toBe('wait');
  });

  test('RO-29 is waived after it was overruled', () => {
    const before = ring({ counts: counts({ failed: 5 }) });
    expect(verdictOf('success', { ...before, overruled: overrule(before, ['success']) })?.verdict).toBe('pass');
  });
});

describe('RO-26 comparison', () => {
  const compare = { minEffectShare: 100, minPairs: 50, onTooFew: 'goOn' as const };
  const judge = (of: Parameters<typeof counts>[0], facts: Partial<RingFacts> = {}, rings = 1) =>
    verdictOf(
      'compare',
      { size: 200, candidates: 500, gates: gates({ compare }), ...facts, counts: counts(of) },
      { rings },
    );

  test('worse halts at every look', () => {
    expect(judge({ changedFirst: 7, pairsOpen: 10 })).toMatchObject({ verdict: 'halt', code: 'worse_than_control' });
    expect(judge({ changedFirst: 7 }, {}, 4)?.verdict).toBe('wait');
    expect(judge({ changedFirst: 9 }, {}, 4)?.verdict).toBe('halt');
  });

  test('a ring passes no sooner than enough pairs are resolved, or as many as there can be', () => {
    expect(judge({ pairsNeither: 49 })).toMatchObject({ verdict: 'wait', code: 'pairs_too_few' });
    expect(judge({ pairsNeither: 50 })).toMatchObject({ verdict: 'pass', code: 'compare_enough' });
    expect(judge({ pairsNeither: 12 }, { size: 12 })?.verdict).toBe('pass');
    expect(judge({ pairsNeither: 30 }, { candidates: 30 })?.verdict).toBe('pass');
    expect(judge({ pairsVoid: 60 })?.verdict).toBe('wait');
  });

  test('too few at the end continues or pauses, as chosen, and never counts as enough', () => {
    const end = { succeeded: 200, pairsNeither: 10 };
    expect(judge(end)).toMatchObject({ verdict: 'pass', code: 'pairs_too_few' });
    expect(judge({ ...end, pairsOpen: 1 })?.verdict).toBe('wait');
    const pausing = { gates: gates({ compare: { ...compare, onTooFew: 'pause' } }) };
    expect(judge(end, pausing)).toMatchObject({ verdict: 'halt', code: 'pairs_too_few_paused' });
    const overruled = overrule(ring({ size: 200, counts: counts(end) }), ['compare']);
    expect(judge(end, { ...pausing, overruled })?.verdict).toBe('pass');
  });

  test('says that it does not apply without candidates, and that unchanged VMs fail as often', () => {
    expect(judge({}, { candidates: 0 })).toMatchObject({ verdict: 'pass', code: 'compare_none' });
    expect(judge({ changedFirst: 10, controlFirst: 12, pairsNeither: 40 })).toMatchObject({ code: 'compare_alike' });
  });

  test('RO-25 only rings with candidates are counted, and those that had some: their pairs stay', () => {
    const compared = gates({ compare });
    const rings = [
      { gates: compared, candidates: 5, counts: counts() },
      { gates: compared, candidates: 0, counts: counts() },
      { gates: gates(), candidates: 5, counts: counts() },
    ];
    expect(comparedRings(rings)).toBe(1);
    expect(comparedRings([...rings, { gates: compared, candidates: 0, counts: counts({ pairs: 8 }) }])).toBe(2);
    const late = { changedFirst: 1, pairsNeither: 7, pairs: 8 };
    expect(judge(late, { candidates: 0 })).toMatchObject({ code: 'compare_enough', params: { pairs: 8, needed: 8 } });
    expect(judge({ ...late, changedFirst: 7 }, { candidates: 0 })?.verdict).toBe('halt');
  });

  test('RO-29 begins a new series after it was overruled', () => {
    const overruled = overrule(ring({ counts: counts({ changedFirst: 7 }) }), ['compare']);
    expect(judge({ changedFirst: 13 }, { overruled })?.verdict).toBe('wait');
    expect(judge({ changedFirst: 14 }, { overruled })?.verdict).toBe('halt');
  });
});

describe('RO-29 what is overruled', () => {
  const before = ring({ size: 100, counts: counts({ succeeded: 60, failed: 6, changedFirst: 9, controlFirst: 1 }) });

  test('is only the gates that a person named', () => {
    const halts = (of: RingFacts) =>
      judgeGates(
        {
          ...of,
          gates: gates({ compare: { minEffectShare: 100, minPairs: 1, onTooFew: 'pause' } }),
          candidates: 50,
          isLast: false,
        },
        1,
      )
        .filter(({ verdict }) => verdict === 'halt')
        .map(({ gate }) => gate);
    const worse = { ...before, counts: { ...before.counts, changedFirst: 12 } };
    expect(halts(worse)).toEqual(['errors', 'success', 'compare']);
    for (const gate of ['errors', 'success', 'compare'] as const)
      expect(halts({ ...worse, overruled: overrule(worse, [gate]) })).not.toContain(gate);
    expect(halts({ ...worse, overruled: overrule(worse, ['errors']) })).toEqual(['success', 'compare']);
    expect(halts({ ...worse, overruled: overrule(worse, []) })).toEqual(['errors', 'success', 'compare']);
  });

  test('stays overruled when another gate is overruled later', () => {
    const first = overrule(before, ['errors', 'success']);
    const later = { counts: counts({ succeeded: 70, failed: 9, changedFirst: 12 }), overruled: first };
    expect(overrule(later, ['compare'])).toMatchObject({ decided: 66, failed: 6, success: true, changedFirst: 12 });
    expect(overrule(later, ['errors'])).toMatchObject({ decided: 79, failed: 9, success: true, changedFirst: 0 });
  });
});

describe('gates that are off', () => {
  test('are not evaluated', () => {
    const off = gates({ errors: null, success: null, compare: null });
    expect(judgeGates({ ...ring({ gates: off, counts: counts({ failed: 10 }) }), isLast: false }, 1)).toEqual([]);
  });

  test('leave the others in the order in which the page shows them', () => {
    const some = gates({ errors: null, compare: { minEffectShare: 100, minPairs: 50, onTooFew: 'goOn' } });
    const verdicts = judgeGates({ ...ring({ gates: some }), isLast: false }, 1);
    expect(verdicts.map(({ gate }) => gate)).toEqual(['success', 'compare']);
  });
});

test('RO-26 a ring needs no more pairs than it has members that count', () => {
  const compare = { minEffectShare: 100, minPairs: 50, onTooFew: 'goOn' as const };
  const needed = (size: number, of: Parameters<typeof counts>[0]) =>
    verdictOf('compare', { size, candidates: 900, gates: gates({ compare }), counts: counts(of) })?.params.needed;
  expect(needed(60, { parked: 10 })).toBe(50);
  expect(needed(60, { parked: 10, gone: 5 })).toBe(45);
});
