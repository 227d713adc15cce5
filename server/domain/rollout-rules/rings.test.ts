import { expect, test } from 'vitest';
import { orderKey, orderMembers } from './order.ts';
import { boundaryFaults, inFlightLimit, maxMoved, ringSizes } from './rings.ts';
import type { Limit } from './stored.ts';

const shares = (...percents: number[]) => percents.map((percent) => ({ filter: null, upTo: { share: percent * 100 } }));

test.each([
  [[33, 66, 100], 10, [4, 3, 3]],
  [[1, 10, 50, 100], 7, [1, 0, 3, 3]],
  [[1, 10, 50, 100], 1, [1, 0, 0, 0]],
  [[1, 10, 50, 100], 1_000_000, [10_000, 90_000, 400_000, 500_000]],
  [[100], 0, [0]],
])('RO-8 rings up to %j percent of %i members have %j', (percents, members, sizes) => {
  expect(ringSizes(shares(...percents), members)).toEqual(sizes);
});

test('RO-8 every member is in exactly one ring, for every number of members', () => {
  for (let members = 0; members <= 300; members += 1) {
    const sizes = ringSizes(shares(0.01, 33.33, 66.67, 100), members);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(members);
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(0);
  }
});

test('RO-8 a ring with a filter takes what matches, up to its boundary', () => {
  const rings = [{ upTo: null }, { upTo: { share: 1_000 } }, { upTo: { count: 12 } }, { upTo: { share: 10_000 } }];
  // 8 of 100 members match the first ring's filter, so the second takes 2 up to the tenth member.
  expect(ringSizes(rings, 100, (ring, taken) => (ring === 0 ? 8 : 100 - taken))).toEqual([8, 2, 2, 88]);
  // More members than the boundary match: the second ring takes none.
  expect(ringSizes(rings, 100, (ring, taken) => (ring === 0 ? 40 : 100 - taken))).toEqual([40, 0, 0, 60]);
});

test.each<[string, { filter: null | Record<string, unknown>; upTo: Limit | null }[], { ring: number; code: string }[]]>(
  [
    ['rising shares', shares(1, 10, 100), []],
    ['equal shares', shares(10, 10, 100), [{ ring: 1, code: 'ring_shares' }]],
    ['falling shares', shares(50, 10, 100), [{ ring: 1, code: 'ring_shares' }]],
    ['a last ring below 100 %', shares(10, 99.99), [{ ring: 1, code: 'ring_last' }]],
    ['a last ring with a number', [{ filter: null, upTo: { count: 5 } }], [{ ring: 0, code: 'ring_last' }]],
    ['a last ring with a filter', [{ filter: { q: 'a' }, upTo: null }], [{ ring: 0, code: 'ring_last' }]],
    ['a last ring without a limit', [{ filter: null, upTo: null }], []],
  ],
)('RO-8 checks %s', (_, rings, faults) => {
  expect(boundaryFaults(rings)).toEqual(faults);
});

test('RO-11 a share in flight is rounded down, and at least 1', () => {
  expect(inFlightLimit({ share: 1_000 }, 99)).toBe(9);
  expect(inFlightLimit({ share: 1_000 }, 5)).toBe(1);
  expect(inFlightLimit({ count: 200 }, 5)).toBe(200);
});

test.each([
  [100, null, 0],
  [101, null, 1],
  [4_210, null, 42],
  [50, 1_000, 5],
  [4_210, 0, 0],
])('RO-5 of %i members with %j, %i may move', (members, share, moved) => {
  expect(maxMoved(members, share)).toBe(moved);
});

test('RO-7 the order is the rising MD5 of rollout and VM, whatever order the ids are given in', () => {
  const vms = Array.from({ length: 200 }, (_, index) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`);
  const order = orderMembers('rollout-1', vms);
  expect(orderMembers('rollout-1', vms.toReversed())).toEqual(order);
  expect(order.map((vm) => orderKey('rollout-1', vm))).toEqual(vms.map((vm) => orderKey('rollout-1', vm)).sort());
  // The MD5 of the text "a/b".
  expect(orderKey('a', 'b')).toBe('a7e86136543b019d72468ceebf71fb8e');
});

test('RO-7 another rollout has another order, so that other VMs are first', () => {
  const vms = Array.from({ length: 1_000 }, (_, index) => `vm-${index}`);
  const first = new Set(orderMembers('rollout-1', vms).slice(0, 100));
  const both = orderMembers('rollout-2', vms)
    .slice(0, 100)
    .filter((vm) => first.has(vm));
  expect(both.length).toBeLessThan(30);
});
