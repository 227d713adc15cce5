import { describe, expect, test } from 'vitest';
import { hasFreeSlots, isCovered, planSwap, type SlotDeployment, swapSlots } from './deployments.ts';
import { openEndpoint, type RoleEndpoint } from './endpoints.ts';
import { randomOf } from './testing/random.ts';

const [production, staging]: SlotDeployment[] = [
  { name: 'v2', slot: 'production' },
  { name: 'v3', slot: 'staging' },
] as const;
const both = [production, staging] as SlotDeployment[];

describe('JU-4 a swap', () => {
  test('exchanges the two deployments', () => {
    expect(swapSlots(both)).toEqual([
      { name: 'v2', slot: 'staging' },
      { name: 'v3', slot: 'production' },
    ]);
  });

  test.each([
    ['both slots', both],
    ['Production only', [production]],
    ['Staging only', [staging]],
    ['no deployment', []],
  ])('twice restores the start: %s', (_, deployments) => {
    const before = deployments as SlotDeployment[];
    const swapped = swapSlots(before);
    expect(swapSlots(swapped)).toEqual(before);
    expect(hasFreeSlots(swapped)).toBe(true);
    if (before.length > 0) expect(swapped).not.toEqual(before);
  });

  test('keeps what else is known of a deployment', () => {
    expect(swapSlots([{ name: 'v2', slot: 'staging', roles: 3 }])).toEqual([
      { name: 'v2', slot: 'production', roles: 3 },
    ]);
  });

  test('two deployments in one slot are recognized', () => {
    expect(hasFreeSlots([production, { name: 'v3', slot: 'production' }] as SlotDeployment[])).toBe(false);
  });
});

describe('the plan of a swap', () => {
  const ports = (...all: number[]): RoleEndpoint[] =>
    all.reduce<RoleEndpoint[]>((endpoints, publicPort, role) => {
      const source = `unit:blog/${role}` as const;
      const result = openEndpoint(endpoints, {
        role: String(role),
        protocol: 'tcp',
        publicPort,
        isBalanced: true,
        source,
      });
      return 'endpoints' in result ? result.endpoints : endpoints;
    }, []);

  const port = (number: number) => ({ protocol: 'tcp' as const, port: number });
  const of = (role: number, number: number) => ({ role: String(role), ...port(number) });
  test.each([
    [
      'the same ports',
      ports(80),
      ports(80),
      { becomePublic: [of(0, 80)], ceasePublic: [of(0, 80)], unchanged: [port(80)] },
    ],
    [
      'a port more',
      ports(443, 80),
      ports(8_404, 80, 443),
      {
        becomePublic: [of(1, 80), of(2, 443), of(0, 8_404)],
        ceasePublic: [of(1, 80), of(0, 443)],
        unchanged: [port(80), port(443)],
      },
    ],
    ['an empty slot', ports(80, 80), ports(), { becomePublic: [], ceasePublic: [of(0, 80), of(1, 80)], unchanged: [] }],
    ['other ports', ports(80), ports(81), { becomePublic: [of(0, 81)], ceasePublic: [of(0, 80)], unchanged: [] }],
    [
      'a set of two roles',
      ports(80, 80),
      ports(80, 80),
      {
        becomePublic: [of(0, 80), of(1, 80)],
        ceasePublic: [of(0, 80), of(1, 80)],
        unchanged: [port(80)],
      },
    ],
  ])('names the ports and their roles: %s', (_, before, after, plan) => {
    expect(planSwap({ production: before, staging: after })).toEqual(plan);
    const back = planSwap({ production: after, staging: before });
    expect([back.becomePublic, back.ceasePublic]).toEqual([plan.ceasePublic, plan.becomePublic]);
    expect(back.unchanged).toEqual(plan.unchanged);
  });
});

describe('JU-6 the agreement of 99.95 %', () => {
  const role = (state = 'ready', availabilitySet: string | null = 'juju') => ({ state, availabilitySet });
  test.each([
    ['no role', [], false],
    ['one role', [role()], false],
    ['two roles', [role(), role()], true],
    ['three roles', [role(), role(), role()], true],
    ['two roles, of which one is being deleted', [role(), role('deleting')], false],
    ['two roles without an availability set', [role('ready', null), role('ready', null)], false],
  ])('%s', (_, roles, covered) => {
    expect(isCovered(roles)).toBe(covered);
  });
});

test('JU-4 over random histories, no slot ever holds two deployments', () => {
  const faults: SlotDeployment[][] = [];
  for (let seed = 0; seed < 100; seed += 1) {
    const random = randomOf(seed);
    let deployments: SlotDeployment[] = [];
    for (let count = 0; count < 20; count += 1) {
      const act = random.below(3);
      const slot = random.pick(['production', 'staging'] as const);
      if (act === 0) deployments = swapSlots(deployments);
      else if (act === 1) deployments = deployments.filter((one) => one.slot !== slot);
      else if (!deployments.some((one) => one.slot === slot))
        deployments = [...deployments, { name: `v${count}`, slot }];
      if (!hasFreeSlots(deployments)) faults.push(deployments);
    }
  }
  expect(faults).toEqual([]);
});
