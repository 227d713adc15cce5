import { describe, expect, test } from 'vitest';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { completeDefinition, completeStrategy, strategyOf } from './complete.ts';
import { rolloutInput, rolloutRulesInput, strategyInput } from './input.ts';
import { filterInput } from './select-input.ts';
import { builtInStrategies } from './strategies.ts';

const filter = filterInput([
  { name: 'q', value: { kind: 'text', max: 200 } },
  { name: 'health', value: { kind: 'words', words: ['failed', 'healthy'] } },
  { name: 'tags', value: { kind: 'tags', max: 256, count: 16 } },
  { name: 'silentMinutes', value: { kind: 'number', min: 1, max: 525_600 } },
]);
const schema = rolloutInput(filter);

const definition = {
  name: 'probe 1.1 in production',
  select: { include: { tags: ['env=prod'] } },
  change: { kind: 'set', handler: 'Acme.Lab.Probe', version: '1.1.0.0' },
};
const night = { days: ['mon'], from: '22:00', to: '04:00', timeZone: 'Europe/Berlin' };
const ids = (count: number) =>
  Array.from({ length: count }, (_, index) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`);

/** The faults of a definition with these changes, as `path code`. */
function faultsOf(changes: Record<string, unknown>): string[] {
  try {
    const parsed = parse(schema, { ...definition, ...changes });
    return completeDefinition(parsed, builtInStrategies.careful).faults.map(({ path, code }) => `${path} ${code}`);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return error.faults.map(({ path, code }) => `${path} ${code}`);
  }
}
const ring = (upTo: unknown, more = {}) => ({ name: 'ring', upTo, ...more });

describe('RO-1 a selection is never wider than it reads', () => {
  test.each([
    ['nothing', {}, ['/select selection_empty']],
    ['an empty filter', { include: {} }, ['/select/include selection_empty']],
    ['a filter of empty parts', { include: { q: '', tags: [] } }, ['/select/include selection_empty']],
    ['an unknown key', { include: { q: 'a', tag: ['a'] } }, ['/select/include/tag field_unknown']],
    ['an unknown key beside', { all: true, filter: {} }, ['/select/filter field_unknown']],
    ['all beside a filter', { all: true, include: { q: 'a' } }, ['/select/all selection_twice']],
    ['all: false', { all: false }, ['/select/all field_choice']],
    ['ids beside a filter', { ids: ids(1), include: { q: 'a' } }, ['/select/include selection_twice']],
    ['no ids', { ids: [] }, ['/select/ids selection_empty']],
    ['too many ids', { ids: ids(10_001) }, ['/select/ids selection_too_large']],
    ['an empty exclude', { all: true, exclude: {} }, ['/select/exclude selection_empty']],
    ['a tag as an object', { include: { tags: [{ name: 'env' }] } }, ['/select/include/tags/0 field_not_text']],
  ])('rejects %s', (_, select, faults) => {
    expect(faultsOf({ select })).toEqual(faults);
  });

  test('accepts ids, a filter and all, and reads tags as the VM list does', () => {
    expect(faultsOf({ select: { ids: ids(10_000) } })).toEqual([]);
    expect(faultsOf({ select: { all: true, exclude: { q: 'a' } } })).toEqual([]);
    const parsed = parse(schema, { ...definition, select: { include: { tags: ['env=prod', 'a%3Db'], q: '' } } });
    expect(parsed.select).toEqual({ include: { tags: [{ name: 'env', value: 'prod' }, { name: 'a=b' }] } });
  });
});

test.each([
  ['RO-3 a set of nothing', { kind: 'set', handler: 'Acme.Lab.Probe' }, ['/change change_empty']],
  ['RO-3 a set without a handler', { kind: 'set', version: '1.0' }, ['/change/handler field_missing']],
  [
    'RO-3 an install without a name',
    { ...definition.change, onAbsent: 'install' },
    ['/change/extension extension_name_needed'],
  ],
  [
    'RO-3 merge and replace',
    { ...definition.change, publicSettings: { merge: {}, replace: {} } },
    ['/change/publicSettings settings_merge_or_replace'],
  ],
  ['RO-3 a version for a removal', { ...definition.change, kind: 'remove' }, ['/change/version change_field_unused']],
  ['RO-3 an invalid handler', { ...definition.change, handler: 'probe' }, ['/change/handler handler_form']],
  ['RO-3 an unknown field', { ...definition.change, settings: {} }, ['/change/settings field_unknown']],
])('rejects %s', (_, change, faults) => {
  expect(faultsOf({ change })).toEqual(faults);
});

test.each([
  [
    'RO-8 shares that do not rise',
    [ring({ percent: 10 }), ring({ percent: 10 }), ring({ percent: 100 })],
    ['/rings/1/upTo ring_shares'],
  ],
  ['RO-8 a last ring below 100 %', [ring({ percent: 10 }), ring({ percent: 99.99 })], ['/rings/1/upTo ring_last']],
  [
    'RO-8 a share with three decimals',
    [ring({ percent: 33.333 }), ring({ percent: 100 })],
    ['/rings/0/upTo/percent percent_places'],
  ],
  ['RO-8 a share and a number', [ring({ percent: 100, count: 5 })], ['/rings/0/upTo limit_form']],
  [
    'RO-1 a ring with an empty filter',
    [ring({ percent: 10 }, { filter: {} }), ring({ percent: 100 })],
    ['/rings/0/filter selection_empty'],
  ],
  [
    'RO-35 an empty window',
    [ring({ percent: 100 }, { windows: [{ ...night, to: '22:00' }] })],
    ['/rings/0/windows/0/to window_empty'],
  ],
  [
    'RO-35 an unknown time zone',
    [ring({ percent: 100 }, { windows: [{ ...night, timeZone: '+01:00' }] })],
    ['/rings/0/windows/0/timeZone time_zone_unknown'],
  ],
  [
    'RO-35 an impossible time',
    [ring({ percent: 100 }, { windows: [{ ...night, from: '24:00' }] })],
    ['/rings/0/windows/0/from time_of_day_form'],
  ],
])('rejects %s', (_, rings, faults) => {
  expect(faultsOf({ rings })).toEqual(faults);
});

test('names every fault of a definition', () => {
  const faults = faultsOf({
    name: '',
    select: { include: {} },
    gates: { errors: { percent: 101 } },
    retry: { times: 4 },
  });
  expect(faults).toEqual([
    '/name field_empty',
    '/select/include selection_empty',
    '/gates/errors/percent field_too_big',
    '/retry/times field_too_big',
  ]);
});

test('a bulk act has one ring', () => {
  expect(faultsOf({ kind: 'bulk', rings: [ring({ percent: 100 })] })).toEqual(['/rings bulk_one_ring']);
  expect(strategyOf({ kind: 'bulk', strategy: undefined })).toBe('at-once');
});

describe('what is left out comes from the strategy', () => {
  const complete = (changes: Record<string, unknown>) =>
    completeDefinition(parse(schema, { ...definition, ...changes }), builtInStrategies.careful).definition;

  test('RO-8 percentages are stored in hundredths of a percent', () => {
    const { rings, maxMovedShare } = complete({
      rings: [ring({ percent: 1.15 }), ring({ percent: 33.33 }), ring({ percent: 100 })],
      maxMovedPercent: 0.29,
    });
    expect(rings.map(({ upTo }) => upTo)).toEqual([{ share: 115 }, { share: 3_333 }, { share: 10_000 }]);
    expect(maxMovedShare).toBe(29);
  });

  test('a gate that is null is off, and a ring’s own gate comes first', () => {
    const { rings } = complete({
      rings: [ring({ percent: 10 }, { gates: { errors: { count: 3 } } }), ring({ percent: 100 })],
      gates: { compare: null, errors: { percent: 7 }, soakSeconds: 0 },
    });
    expect(rings.map(({ gates }) => gates.errors)).toEqual([{ count: 3 }, { share: 700, atLeast: 1 }]);
    expect(rings[0]?.gates).toMatchObject({ compare: null, soakSeconds: 0, success: { share: 9_500, atLeast: 1 } });
  });

  test('a definition without rings has those of the strategy', () => {
    expect(complete({}).rings.map(({ upTo }) => upTo)).toEqual([100, 1_000, 5_000, 10_000].map((share) => ({ share })));
    expect(complete({})).toMatchObject({
      strategy: 'careful',
      silent: 'wait',
      keepDays: 14,
      noProgressSeconds: 86_400,
    });
  });

  test('protected settings are given as a whole, removed or kept, and never stored in the definition', () => {
    const kept = (protectedSettings: unknown) =>
      complete({ change: { ...definition.change, protectedSettings } }).change;
    expect(kept({ password: 'x' }).protectedSettings).toBe('given');
    expect(JSON.stringify(kept({ password: 'x' }))).not.toContain('password');
    expect(kept(null).protectedSettings).toBe('removed');
    expect(complete({}).change.protectedSettings).toBeNull();
  });
});

test('a saved strategy is completed from careful, and has the same faults', () => {
  const { strategy, faults } = completeStrategy(parse(strategyInput(filter), { rings: [ring({ percent: 50 })] }));
  expect(faults).toEqual([{ path: '/rings/0/upTo', code: 'ring_last' }]);
  expect(strategy).toMatchObject({ silent: 'wait', onHalt: 'pause' });
});

test('RO-36 a freeze ends after it starts', () => {
  const rules = { stepsPerSecond: 100, inFlight: 2_000, approval: null, availabilitySetTag: 'set' };
  const freeze = { from: '2026-12-20T00:00:00Z', to: '2026-12-20T00:00:00Z', reason: 'year end' };
  expect(() => parse(rolloutRulesInput, { ...rules, freezes: [freeze] })).toThrow(DomainError);
  expect(
    parse(rolloutRulesInput, { ...rules, freezes: [{ ...freeze, to: '2027-01-04T00:00:00+01:00' }] }),
  ).toMatchObject({
    freezes: [{ to: '2027-01-03T23:00:00.000Z', exempt: [] }],
  });
});
