import { describe, expect, test } from 'vitest';
import { memberKinds } from '#server/domain/rollout-rules/words.ts';
import { chunkSize, chunksOf, kindsOf, type PlacedMember, wordOf } from './member-chunks.ts';
import { movedMembers } from './moved-members.ts';
import { countKinds, countNotRevertible, ringStats } from './ring-stats.ts';

const hashOf = (n: number) => n.toString(16).padStart(32, '0');
const placed = (count: number): PlacedMember[] =>
  Array.from({ length: count }, (_, n) => ({ vmId: `vm-${n}`, hash: hashOf(n), kind: n % memberKinds.length }));

describe('the rows of a ring', () => {
  test.each([
    [0, []],
    [1, [1]],
    [chunkSize, [chunkSize]],
    [chunkSize + 1, [chunkSize, 1]],
    [2 * chunkSize + 7, [chunkSize, chunkSize, 7]],
  ])('hold %i members in order, without a gap', (count, sizes) => {
    const members = placed(count);
    const chunks = chunksOf(members);
    expect(chunks.map(({ vmIds }) => vmIds.length)).toEqual(sizes);
    expect(chunks.map(({ kinds }) => kinds.length)).toEqual(sizes);
    expect(chunks.map(({ first }) => first)).toEqual(sizes.map((_, n) => n * chunkSize));
    expect(chunks.flatMap(({ vmIds }) => vmIds)).toEqual(members.map(({ vmId }) => vmId));
    expect(kindsOf(chunks)).toEqual(new Map(members.map(({ vmId, kind }) => [vmId, kind])));
  });

  test('state the lowest and the highest key, even if failed members come first', () => {
    const [a, b, c] = placed(3) as [PlacedMember, PlacedMember, PlacedMember];
    expect(chunksOf([c, a, b])).toMatchObject([{ low: a.hash, high: c.hash, vmIds: ['vm-2', 'vm-0', 'vm-1'] }]);
    const many = placed(chunkSize + 2);
    const limits = chunksOf(many).map(({ low, high }) => [low, high]);
    expect(limits).toEqual([
      [hashOf(0), hashOf(chunkSize - 1)],
      [hashOf(chunkSize), hashOf(chunkSize + 1)],
    ]);
  });

  test('a kind has its word, and a VM that is not a member has none', () => {
    expect(memberKinds.map((_, n) => wordOf(n))).toEqual([...memberKinds]);
    expect([wordOf(undefined), wordOf(-1), wordOf(255)]).toEqual(['none', 'none', 'none']);
  });
});

describe('RO-5 two plans are compared by the kind of each VM:', () => {
  const kind = (word: (typeof memberKinds)[number]) => memberKinds.indexOf(word);
  const of = (kinds: Record<string, (typeof memberKinds)[number]>) =>
    new Map(Object.entries(kinds).map(([vmId, word]) => [vmId, kind(word)]));

  test.each([
    ['equal plans', { a: 'update', b: 'install' }, { b: 'install', a: 'update' }, 0, {}],
    ['a member left', { a: 'update', b: 'update' }, { a: 'update' }, 1, { 'update-none': 1 }],
    ['a VM came', {}, { a: 'install' }, 1, { 'none-install': 1 }],
    ['a kind differs', { a: 'update' }, { a: 'settings' }, 1, { 'update-settings': 1 }],
    [
      'several moved, and are counted by both kinds',
      { a: 'update', b: 'update', c: 'state', d: 'remove' },
      { a: 'settings', b: 'settings', d: 'remove', e: 'remove' },
      4,
      { 'update-settings': 2, 'state-none': 1, 'none-remove': 1 },
    ],
  ] as const)('%s', (_, before, after, moved, changes) => {
    expect(movedMembers(of(before), of(after))).toEqual({ moved, changes });
  });
});

describe('RO-4 the numbers of a ring', () => {
  type Member = Parameters<typeof ringStats>[1][number];
  const member = (given: Partial<Member['preview']> = {}, facts: Partial<Member> = {}): Member => ({
    ...{ vmId: 'vm', set: null, silent: false, isFirst: false, ...facts },
    preview: {
      ...{ outcome: 'change', kind: 'update', touched: [], bytes: 10, restarts: false, seconds: 60 },
      ...{ notRevertible: null, needsRelease: false, ...given },
    },
  });
  const members = [
    member({ bytes: 5, seconds: 600 }, { set: 'db' }),
    member({ kind: 'install', restarts: true }, { set: 'db', silent: true }),
    member({ notRevertible: 'version_withdrawn' }, { set: 'web' }),
    member({ notRevertible: 'secrets_required', restarts: true }),
    member({ notRevertible: 'version_withdrawn', bytes: 0 }),
  ];

  test('are the sums of its members, the largest set and the longest commands', () => {
    expect(ringStats('canary', members, 2)).toEqual({
      ...{ name: 'canary', size: 5, inFlight: 2, bytes: 35, restarts: 2, silent: 1, longestSeconds: 600 },
      ...{ kinds: { update: 4, install: 1 }, sets: { touched: 2, longest: 2 } },
    });
  });

  test('count what cannot be reverted by reason, and what a revert leaves alone', () => {
    expect(countKinds(members)).toEqual({ update: 4, install: 1 });
    expect(countNotRevertible(members, 0)).toEqual({ version_withdrawn: 2, secrets_required: 1 });
    expect(countNotRevertible(members, 3)).toEqual({ version_withdrawn: 2, secrets_required: 1, overtaken: 3 });
    expect(countNotRevertible([], 0)).toEqual({});
  });
});
