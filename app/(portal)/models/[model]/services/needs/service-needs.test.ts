import { expect, test } from 'vitest';
import type { ShownService } from '../service-data.ts';
import { keyOfNeed, serviceNeeds } from './service-needs.ts';

type Unit = ShownService['units'][number];

const unit = (name: string, more: Partial<Unit> = {}) =>
  ({ unit: name, vmId: 'v', vm: 'prod-0', stage: 'started', failing: [], ...more }) as unknown as Unit;

const service = (name: string, more: Partial<ShownService> = {}): ShownService => ({
  ...{ name, life: 'alive', formula: 'Acme.Lab.blog', version: '1.0.0.0', exposed: false, settingsVersion: 1 },
  ...{ atOnce: 1, units: [unit(`${name}/0`)], endpoints: [] },
  ...more,
});

const db = { side: 'requires' as const, name: 'db', interface: 'mysql', limit: 1, optional: false, relations: 0 };
const failing = {
  ...{ hook: 'install', run: 'r', failures: 3, outcome: 'failed' as const, exitCode: 1 },
  ...{ since: '2026-11-29T12:00:00Z', remoteUnit: null, resolution: null, reason: null },
};

test('services that work need nothing', () => {
  expect(serviceNeeds([service('blog'), service('store', { endpoints: [{ ...db, relations: 1 }] })])).toEqual([]);
});

test('what fails comes first, then releases, missing relations, machines to enroll, and services without units', () => {
  const needs = serviceNeeds([
    service('empty', { units: [] }),
    service('new', { units: [unit('new/0', { stage: 'placed' }), unit('new/1', { stage: 'placed' })] }),
    service('blog', { endpoints: [db], units: [unit('blog/0', { needsRelease: true }), unit('blog/1')] }),
    service('store', { units: [unit('store/0', { failing: [failing] })] }),
  ]);
  expect(needs.map(({ kind }) => kind)).toEqual(['failing', 'release', 'relation', 'enroll', 'empty']);
  expect(needs[1]).toMatchObject({ service: 'blog', units: [{ unit: 'blog/0', vm: 'prod-0' }] });
  expect(needs[3]).toMatchObject({ units: [{ unit: 'new/0' }, { unit: 'new/1' }] });
  expect(new Set(needs.map(keyOfNeed)).size).toBe(needs.length);
});

test('a service that is being removed needs neither a relation nor units, but its hooks can fail', () => {
  const units = [unit('blog/0', { failing: [failing] })];
  const kinds = serviceNeeds([service('blog', { life: 'dying', endpoints: [db], units })]).map(({ kind }) => kind);
  expect(kinds).toEqual(['failing']);
  expect(serviceNeeds([service('gone', { life: 'dying', units: [] })])).toEqual([]);
});
