import { describe, expect, test } from 'vitest';
import { guardedAddresses, guardLiteral, isAllowed, isPublicAddress } from './guard-address.ts';

const forbidden = [
  ...['127.0.0.1', '127.8.9.1', '0.0.0.0', '0.1.2.3', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
  ...['169.254.169.254', '168.63.129.16', '100.64.0.1', '100.100.100.200', '192.0.0.192', '198.18.0.1'],
  ...['224.0.0.1', '239.1.2.3', '240.0.0.1', '255.255.255.255', '192.0.2.1'],
  ...['::', '::1', '::ffff:127.0.0.1', '::ffff:10.0.0.1', '::127.0.0.1', '::ffff:0:127.0.0.1'],
  ...['fe80::1', 'fe80::1%eth0', 'fc00::1', 'fd00:ec2::254', 'fec0::1', 'ff02::1', '2001:db8::1', '2002:7f00:1::1'],
  ...['64:ff9b::7f00:1', '64:ff9b:1::1', '2001::1', '100::1', '4000::1', 'x', ''],
];

test.each(forbidden)('%s is not public', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each(['8.8.8.8', '172.15.0.1', '172.32.0.1', '::ffff:8.8.8.8', '2606:4700::1111', '2a00:1450::1'])(
  '%s is public',
  (address) => {
    expect(isPublicAddress(address)).toBe(true);
  },
);

const lookup = (addresses: readonly string[]) => async () =>
  addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

describe('the host of an address', () => {
  test.each([
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://017700000001/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://169.254.169.254/latest/meta-data',
  ])('is rejected: %s', async (uri) => {
    const never = () => Promise.reject(new Error('resolved'));
    await expect(guardedAddresses(new URL(uri), [], never)).rejects.toMatchObject({ name: 'ForbiddenHost' });
    expect(() => guardLiteral(new URL(uri), [])).toThrow('planPrivateHosts');
  });

  test('is rejected if one of its addresses is not public', async () => {
    const url = new URL('http://files.example/');
    const found = await guardedAddresses(url, [], lookup(['8.8.8.8', '2606:4700::1111']));
    expect(found.map(({ address }) => address)).toEqual(['8.8.8.8', '2606:4700::1111']);
    const mixed = guardedAddresses(url, [], lookup(['8.8.8.8', '10.0.0.1']));
    await expect(mixed).rejects.toThrow('files.example has the address 10.0.0.1, which is not public');
    expect(() => guardLiteral(url, []), 'a proxy resolves the name').not.toThrow();
  });

  test('is accepted if the machine’s owner allows the name, the address or the network', async () => {
    const url = new URL('http://Files.example/');
    const allowed = (hosts: string[]) =>
      guardedAddresses(url, hosts, lookup(['10.1.2.3'])).then(
        () => true,
        () => false,
      );
    for (const entry of ['files.example', 'FILES.example', '10.1.2.3', '10.0.0.0/8', '::ffff:10.1.2.3']) {
      expect(await allowed(['other', entry]), entry).toBe(true);
    }
    for (const entry of ['example', 'x.files.example', '10.1.2.4', '10.2.0.0/16', 'fc00::/7', '/8', '']) {
      expect(await allowed([entry]), entry).toBe(false);
    }
    expect(isAllowed(['fc00::/7'], 'x', 'fd00::1')).toBe(true);
  });
});
