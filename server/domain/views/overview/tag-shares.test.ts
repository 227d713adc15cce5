import { describe, expect, test } from 'vitest';
import { commonTag, groupingTags, type TagShares } from './tag-shares.ts';

const shares = (tags: Readonly<Record<string, Readonly<Record<string, number>>>>): TagShares =>
  new Map(Object.entries(tags).map(([name, values]) => [name, new Map(Object.entries(values))]));
/** Returns a tag with this many values, which together cover this share of the fleet. */
const spread = (values: number, coverage: number) =>
  Object.fromEntries(Array.from({ length: values }, (_, n) => [`v${n}`, coverage / values]));

describe('tags that divide the fleet', () => {
  test.each<[string, TagShares, string[]]>([
    ['no tags', shares({}), []],
    ['one value divides nothing', shares({ env: { prod: 1 } }), []],
    ['two values do', shares({ env: { prod: 0.5, test: 0.5 } }), ['env']],
    ['24 values do, 25 are too many', shares({ a: spread(24, 1), b: spread(25, 1) }), ['a']],
    ['half of the fleet is enough', shares({ a: spread(2, 0.5), b: spread(2, 0.49) }), ['a']],
    ['the better covered first', shares({ a: spread(9, 0.6), b: spread(2, 0.9) }), ['b', 'a']],
    ['of almost equal coverage, more values first', shares({ a: spread(2, 1), b: spread(9, 0.98) }), ['b', 'a']],
    ['then by name', shares({ b: spread(3, 1), a: spread(3, 1) }), ['a', 'b']],
    [
      'at most eight',
      shares(Object.fromEntries([...'abcdefghij'].map((name) => [name, spread(3, 1)]))),
      ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'],
    ],
  ])('%s', (_, given, expected) => {
    expect(groupingTags(given)).toEqual(expected);
  });
});

describe('the tag that VMs have in common', () => {
  const fleet = shares({ region: { eu: 0.7, ap: 0.1 }, env: { prod: 0.95 }, rack: { r1: 0.02 } });
  const times = (count: number, tags: Record<string, string>) => Array.from({ length: count }, () => tags);

  test.each<[string, Record<string, string>[], string | null]>([
    ['no VMs', [], null],
    ['one VM has nothing in common', times(1, { region: 'ap' }), null],
    ['a tag that is rare elsewhere', times(2, { region: 'ap' }), 'region=ap'],
    ['a tag that most of the fleet has is no clue', times(5, { env: 'prod' }), null],
    ['a quarter more than in the fleet is enough', times(4, { region: 'eu' }), 'region=eu'],
    ['four of five are enough', [...times(4, { region: 'ap' }), {}], 'region=ap'],
    ['three of four are not', [...times(3, { region: 'ap' }), {}], null],
    ['the rarest elsewhere', times(3, { region: 'ap', rack: 'r1' }), 'rack=r1'],
    ['a tag that no sample of the fleet has', times(3, { rack: 'new' }), 'rack=new'],
    ['the same name with other values', [{ region: 'ap' }, { region: 'eu' }], null],
    [
      'a value of another name',
      [
        { a: 'x', b: 'y' },
        { a: 'y', b: 'x' },
      ],
      null,
    ],
    ['an empty value', times(2, { spare: '' }), 'spare='],
    ['a name that every object has', times(2, JSON.parse('{"__proto__":"x"}')), '__proto__=x'],
  ])('%s', (_, tags, expected) => {
    const found = commonTag(tags, fleet);
    expect(found && `${found.name}=${found.value}`).toBe(expected);
  });

  test('comes with its share among these VMs and in the fleet', () => {
    const vms = [...times(4, { region: 'ap' }), { region: 'eu' }];
    expect(commonTag(vms, fleet)).toEqual({ name: 'region', value: 'ap', share: 0.8, fleetShare: 0.1 });
    expect(commonTag(times(2, { rack: 'new' }), fleet)).toMatchObject({ share: 1, fleetShare: 0 });
  });
});
