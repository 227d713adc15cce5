import { expect, test } from 'vitest';
import { readAddress, writeAddress } from '#app/(portal)/vms/fleet-address.ts';
import { coreFields, type FleetFilter } from '#server/domain/fleet/index.ts';
import { vmsAddress } from './vms-address.ts';

const fields = coreFields.map((field) => ({ ...field, find: null }));

const filters: FleetFilter[] = [
  {},
  { health: ['failed', 'degraded'] },
  {
    tags: [{ name: 'a=b & c', value: 'd=%' }, { name: 'alone' }],
    notTags: [{ name: 'alone' }, { name: 'b', value: '' }],
  },
  { handler: 'Acme.Lab.Probe', olderThan: '2.1.0.0', state: ['failed'], cause: ['exit'], exitCode: 51 },
  { changedAfter: '2026-03-01T12:00:00.123Z', became: ['failed'], overdue: ['yes'], silentMinutes: 10 },
];

test.each(filters)('the list reads the filter %j from its address', (filter) => {
  const { searchParams, pathname } = new URL(vmsAddress(filter, '-since'), 'http://portal');
  expect(pathname).toBe('/vms');
  expect(readAddress(fields, searchParams)).toEqual({ query: { filter, sort: '-since' }, ignored: [] });
});

test('only the parameters for tags are named differently from their fields', () => {
  const others = coreFields.filter(({ name, parameter }) => String(name) !== parameter);
  expect(others.map(({ name }) => name)).toEqual(['tags', 'notTags']);
});

test('without an order, a list starts with the least healthy VMs, and a search is sorted by name', () => {
  const sortOf = (query: string) => readAddress(fields, new URLSearchParams(query)).query.sort;
  expect([sortOf(''), sortOf('health=failed'), sortOf('q=web'), sortOf('q=web&sort=health')]).toEqual([
    'health',
    'health',
    'name',
    'health',
  ]);
  const written = writeAddress(fields, { filter: {}, sort: 'name' });
  expect([written, sortOf(written)]).toEqual(['sort=name', 'name']);
});

test('the address is short without a filter, and readable with a filter', () => {
  expect(vmsAddress()).toBe('/vms');
  expect(vmsAddress({ health: ['failed', 'degraded'], sinceAfter: '2026-03-01T12:00:00Z' })).toBe(
    '/vms?health=failed,degraded&sinceAfter=2026-03-01T12:00:00Z',
  );
});
