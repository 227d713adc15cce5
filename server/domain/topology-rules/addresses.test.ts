import { describe, expect, test } from 'vitest';
import {
  checkInstance,
  formatIpv4,
  isInNetwork,
  nextOffset,
  parseIpv4,
  parseNetwork,
  type ReportedInstance,
} from './addresses.ts';

test.each([
  ['0.0.0.0', 0],
  ['10.0.0.4', 167_772_164],
  ['255.255.255.255', 4_294_967_295],
])('%s is an IPv4 address', (text, address) => {
  expect(parseIpv4(text)).toBe(address);
  expect(formatIpv4(address)).toBe(text);
});

test.each([
  '',
  '10.0.0',
  '10.0.0.256',
  '10.0.0.04',
  '10.0.0.4 ',
  '10.0.0.4\n',
  '0x0a.0.0.4',
  '167772164',
  '::1',
  '10.0.0.4.5',
  '10.0.0.-1',
])('%j is no IPv4 address', (text) => {
  expect(parseIpv4(text)).toBeNull();
});

test.each([
  ['10.0.0.0/8', ['10.0.0.0', '10.255.255.255'], ['9.255.255.255', '11.0.0.0']],
  ['127.80.0.0/16', ['127.80.0.1'], ['127.81.0.0', '127.79.255.255']],
  ['10.1.2.3/32', ['10.1.2.3'], ['10.1.2.2', '10.1.2.4']],
  ['0.0.0.0/0', ['0.0.0.0', '255.255.255.255'], []],
])('the network %s', (text, inside, outside) => {
  const network = parseNetwork(text);
  const contains = (address: string) => isInNetwork(network!, parseIpv4(address)!);
  expect(inside.filter(contains)).toEqual(inside);
  expect(outside.filter(contains)).toEqual([]);
});

test.each(['10.0.0.0', '10.0.0.1/8', '10.0.0.0/33', '10.0.0.0/08', '10.0.0.0/8/8', '10.0.0/8', '/8', '10.0.0.0/'])(
  '%s is no network',
  (text) => {
    expect(parseNetwork(text)).toBeNull();
  },
);

describe('the next address of a network', () => {
  const eight = parseNetwork('10.0.0.0/29')!;
  const taken =
    (...offsets: number[]) =>
    (offset: number) =>
      offsets.includes(offset);
  test.each([
    ['the first one after the reserved ones', 0, [], 4],
    ['the next one', 5, [4], 5],
    ['the next free one', 5, [5], 6],
    ['one from the beginning after the last', 7, [], 4],
    ['none, if all are taken', 4, [4, 5, 6], null],
  ])('is %s', (_, from, offsets, next) => {
    expect(nextOffset(eight, from, taken(...offsets))).toBe(next);
  });

  test('a network of four addresses has none', () => {
    expect(nextOffset(parseNetwork('10.0.0.0/30')!, 0, taken())).toBeNull();
  });
});

describe('JU-19 an agent that enrolls', () => {
  const id = 'juju-prod-k3j9x0a1bz-jujuq7f2m0c4xd';
  const other = 'juju-prod-k3j9x0a1bz-jujuaaaaaaaaaa';
  const role = { instanceId: id, network: parseNetwork('10.0.0.0/8') };
  const plain = { instanceId: null, network: null };
  const check = (vm: typeof role | typeof plain, reported: ReportedInstance | null) =>
    checkInstance(
      vm,
      reported,
      (asked) => asked === other,
      (address) => isInNetwork(parseNetwork('10.80.0.0/16')!, address),
    );
  test.each([
    ['with the id of its role becomes the instance', role, { id, address: '10.0.0.5' }, null],
    ['without an id on a VM that is not a role is accepted', plain, null, null],
    ['without an id on the VM of a role is rejected', role, null, 'instance_missing'],
    ['with an id that no role has is rejected', role, { id: `${id}x`, address: '10.0.0.5' }, 'instance_other_role'],
    ['with an id on a VM that is not a role is rejected', plain, { id, address: '10.0.0.5' }, 'instance_unknown'],
    ['that claims the role of another VM is rejected', role, { id: other, address: '10.0.0.5' }, 'instance_claimed'],
    [
      'that claims a role from a VM that is none is rejected',
      plain,
      { id: other, address: '10.0.0.5' },
      'instance_claimed',
    ],
  ] as const)('JU-35 %s', (_, vm, reported, refusal) => {
    expect(check(vm, reported)).toBe(refusal);
  });

  test.each([
    ['outside the network', '192.168.0.5'],
    ['of the metadata service', '169.254.169.254'],
    ['of the machine itself', '127.0.0.1'],
    ['of the machine itself, as IPv6', '::1'],
    ['of a cloud service', '10.80.0.1'],
    ['that cannot be read', '10.0.0.5, 10.0.0.6'],
  ])('JU-35 an address %s is rejected', (_, address) => {
    expect(check(role, { id, address })).toBe('address_outside_network');
  });
});
