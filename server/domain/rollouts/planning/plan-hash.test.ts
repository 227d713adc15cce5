import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Definition } from '#server/domain/rollout-rules/stored.ts';
import { deriveKeys } from '#server/platform/keys.ts';
import { definitionOf, ringUpTo, upgrade } from '../testing/given-draft.ts';
import { type HashedPlan, isHashOf, membersDigest, planHash } from './plan-hash.ts';

const ctx = { keys: deriveKeys(randomBytes(32)) };
const ids = (...tails: number[]) => tails.map((n) => `00000000-0000-4000-8000-00000000000${n}`);
const chunk = (vmIds: string[], ...kinds: number[]) => ({ vmIds, kinds: Buffer.from(kinds) });
const members = membersDigest([[chunk(ids(1, 2), 1, 1)], [chunk(ids(3), 1)]]);
const plan: HashedPlan = {
  rolloutId: '00000000-0000-7000-8000-000000000001',
  definition: definitionOf({ rings: [ringUpTo(5_000), ringUpTo(10_000)] }),
  given: { password: 'one' },
  version: { sha256: 'a'.repeat(64), state: 'published', schema: null },
  members,
};
const withDefinition = (given: Partial<Definition>): HashedPlan => ({
  ...plan,
  definition: { ...plan.definition, ...given },
});
const { gates } = ringUpTo(10_000);
const others: [string, HashedPlan][] = [
  ['rollout', { ...plan, rolloutId: '00000000-0000-7000-8000-000000000002' }],
  ['selection', withDefinition({ select: { all: true, exclude: { q: 'db' } } })],
  ['change', withDefinition({ change: { ...upgrade, allowLower: true } })],
  ['boundary', withDefinition({ rings: [ringUpTo(5_001), ringUpTo(10_000)] })],
  [
    'gate',
    withDefinition({ rings: [ringUpTo(5_000), ringUpTo(10_000, { gates: { ...gates, errors: { count: 9 } } })] }),
  ],
  ['approval of a ring', withDefinition({ rings: [ringUpTo(5_000, { approval: true }), ringUpTo(10_000)] })],
  ['act on a halt', withDefinition({ onHalt: 'revert' })],
  ['act on a failed step', withDefinition({ onStepFailure: 'revert' })],
  ['respect for availability sets', withDefinition({ availabilitySets: 'ignore' })],
  ['protected settings', { ...plan, given: { password: 'two' } }],
  ['absence of protected settings', { ...plan, given: undefined }],
  ['package', { ...plan, version: { sha256: 'b'.repeat(64), state: 'published', schema: null } }],
  ['state of the version', { ...plan, version: { sha256: 'a'.repeat(64), state: 'withdrawn', schema: null } }],
  ['schema', { ...plan, version: { sha256: 'a'.repeat(64), state: 'published', schema: { publicSettings: true } } }],
  ['members', { ...plan, members: membersDigest([[chunk(ids(1, 2), 1, 1)], [chunk(ids(4), 1)]]) }],
];

describe('RO-5 the hash of a plan', () => {
  test('is recognized, whatever the order of the keys of what it covers', () => {
    const hash = planHash(ctx, plan);
    const given = JSON.parse(JSON.stringify({ ...plan.definition }));
    const definition = Object.fromEntries(Object.entries(given).toReversed()) as unknown as Definition;
    expect(isHashOf(ctx, hash, { ...plan, definition })).toBe(true);
    expect(hash).toMatch(/^[\w-]{40,100}$/);
  });

  test.each(others)('differs with another %s', (_, other) => {
    expect(isHashOf(ctx, planHash(ctx, plan), other)).toBe(false);
    expect(isHashOf(ctx, planHash(ctx, other), plan)).toBe(false);
  });

  test('of equal plans differs each time, so that protected settings cannot be compared', () => {
    const hashes = Array.from({ length: 20 }, () => planHash(ctx, plan));
    expect(new Set(hashes).size).toBe(20);
    for (const hash of hashes) expect(isHashOf(ctx, hash, plan)).toBe(true);
  });

  test('needs the key of the portal, and text that is not a hash matches nothing', () => {
    const hash = planHash(ctx, plan);
    expect(isHashOf({ keys: deriveKeys(randomBytes(32)) }, hash, plan)).toBe(false);
    for (const text of ['', 'x', hash.slice(0, -2), `${hash}AA`, hash.toUpperCase()]) {
      expect(isHashOf(ctx, text, plan)).toBe(false);
    }
  });
});

describe('RO-5 the digest of the members differs', () => {
  const [one, two, three] = [1, 2, 3].map((n) => ids(n)[0] ?? '') as [string, string, string];

  test.each<[string, Parameters<typeof membersDigest>[0]]>([
    ['with their order', [[chunk([two, one], 1, 1)], [chunk([three], 1)]]],
    ['with a kind', [[chunk([one, two], 1, 2)], [chunk([three], 1)]]],
    ['with the ring of a member', [[chunk([one], 1)], [chunk([two, three], 1, 1)]]],
    ['without one of them', [[chunk([one, two], 1, 1)], []]],
    ['with an empty ring before them', [[], [chunk([one, two], 1, 1)], [chunk([three], 1)]]],
  ])('%s', (_, rings) => {
    expect(membersDigest(rings)).not.toBe(members);
    expect(membersDigest(rings)).toBe(membersDigest(rings));
  });
});
