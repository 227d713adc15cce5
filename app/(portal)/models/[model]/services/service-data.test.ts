import { expect, test } from 'vitest';
import {
  addressesOf,
  countUnits,
  explainedHealths,
  healthOfService,
  isServiceMatch,
  leavingUnits,
  missingRelations,
  portsOf,
  relationHref,
  type ShownService,
  serviceHref,
  sortWorstFirst,
  unitHref,
  unitsByHealth,
} from './service-data.ts';

type Unit = ShownService['units'][number];

const unit = (number: number, more: Partial<Unit> = {}): Unit => ({
  ...{ unit: `blog/${number}`, number, life: 'alive', stage: 'started', health: 'healthy', cause: null, hook: null },
  ...{ vmId: 'v', vm: `prod-${number}`, machine: number, publicAddress: null, version: '1.0.0.0', settingsVersion: 1 },
  ...{ isStaged: false, isConfirmed: true, needsRelease: false, ports: [], failing: [] },
  ...{ running: null, next: null },
  ...more,
});

const endpoint = (name: string, more: object = {}) => ({
  ...{ side: 'requires' as const, name, interface: 'mysql', limit: 1, optional: false, relations: 0 },
  ...more,
});

test('links name the service, the relation and the folder of the unit', () => {
  expect(serviceHref('prod', 'blog')).toBe('/models/prod/services/blog');
  expect(serviceHref('prod', 'blog', 'failed')).toBe('/models/prod/services/blog?health=failed');
  expect(relationHref('prod', 3)).toBe('/models/prod/relations/3');
  expect(unitHref('prod', 'blog-edge/12')).toBe('/models/prod/units/blog-edge-12');
});

test('units are counted by health, worst first, and the worst is the health of the service', () => {
  const units = [unit(0), unit(1, { health: 'unknown' }), unit(2, { health: 'failed' }), unit(3)];
  expect(countUnits(units)).toEqual([
    { health: 'failed', count: 1 },
    { health: 'unknown', count: 1 },
    { health: 'healthy', count: 2 },
  ]);
  expect(healthOfService({ units })).toBe('failed');
  expect(healthOfService({ units: [] })).toBeNull();
  expect(unitsByHealth([{ units }, { units: [unit(9)] }])).toEqual({ failed: 1, unknown: 1, healthy: 3 });
});

test('services that fail come first, services without units last, and equal ones by name', () => {
  const services = [
    { name: 'empty', units: [] },
    { name: 'web', units: [unit(0)] },
    { name: 'api', units: [unit(0)] },
    { name: 'store', units: [unit(0), unit(1, { health: 'degraded' })] },
    { name: 'cache', units: [unit(0, { health: 'failed' })] },
  ];
  expect(sortWorstFirst(services).map(({ name }) => name)).toEqual(['cache', 'store', 'api', 'web', 'empty']);
});

test('EN-82 a relation is missing if the formula requires it, works only with it, and the service has none', () => {
  const endpoints = [
    endpoint('db'),
    endpoint('cache', { optional: true }),
    endpoint('log', { relations: 1 }),
    endpoint('website', { side: 'provides' }),
  ];
  expect(missingRelations({ life: 'alive', endpoints }).map(({ name }) => name)).toEqual(['db']);
  expect(missingRelations({ life: 'dying', endpoints })).toEqual([]);
});

test('ports and public addresses of the units are listed once, ports by number', () => {
  const units = [
    unit(0, { ports: ['443/tcp', '80/tcp'], publicAddress: '127.80.0.5' }),
    unit(1, { ports: ['80/tcp', '8080/tcp'], publicAddress: '127.80.0.5' }),
  ];
  expect(portsOf({ units })).toEqual(['80/tcp', '443/tcp', '8080/tcp']);
  expect(addressesOf({ units })).toEqual(['127.80.0.5']);
});

test('a search finds part of a name, a formula or an interface', () => {
  const service = { name: 'blog', formula: 'Acme.Lab.wordpress', endpoints: [endpoint('db')] };
  for (const search of ['', ' BLO', 'wordpress', 'mysql']) expect(isServiceMatch(service, search), search).toBe(true);
  expect(isServiceMatch(service, 'postgres')).toBe(false);
});

test('the units with the highest numbers leave first, and units that already leave or are in Staging do not count', () => {
  const units = [unit(4), unit(0), unit(2, { life: 'dying' }), unit(7), unit(8, { isStaged: true })];
  const names = (kept: number) => leavingUnits({ units }, kept).map(({ number }) => number);
  expect(names(3)).toEqual([]);
  expect(names(1)).toEqual([7, 4]);
  expect(names(0)).toEqual([7, 4, 0]);
  expect(names(Number.NaN)).toEqual([]);
});

test('the health of machines is explained if each of them has a unit with the same health', () => {
  const services = [{ units: [unit(0, { vmId: 'a', health: 'failed' }), unit(1, { vmId: 'b', health: 'unknown' })] }];
  const machines = [
    { vmId: 'a', health: 'failed' as const },
    { vmId: 'b', health: 'unknown' as const },
  ];
  expect(explainedHealths(machines, services)).toEqual(['failed', 'degraded', 'unknown']);
  const bare = { vmId: 'c', health: 'unknown' as const };
  expect(explainedHealths([...machines, bare], services)).toEqual(['failed', 'degraded']);
  expect(explainedHealths([{ vmId: 'a', health: 'unresponsive' }], services)).not.toContain('unresponsive');
});
