import { expect, test } from 'vitest';
import { readMetadata } from '#protocol/formula.ts';
import { newUnitRecord } from '#protocol/unit-record.ts';
import { unitState } from '#protocol/unit-state.ts';
import { isModelName, maxModelName } from '#server/domain/topology-rules/names.ts';
import { unitNeedsRelease } from '../release/unit-needs-release.ts';
import { goalOf, timeoutsOf, waitsForRelease } from './goal-of.ts';
import type { UnitFacts } from './read-units.ts';

const enrolledAt = new Date('2026-11-01T12:00:00Z');
const read = readMetadata({ name: 'blog', timeouts: { install: 900 }, masked: ['password'] });
if ('faults' in read) throw new Error('the metadata is valid');
const withheld = { hasSecret: true, setBy: 'user:ada' };
const none = { hasSecret: false, setBy: null };
const facts: UnitFacts = {
  ...{ id: 'u', vmId: 'v', modelId: 'm', name: 'blog/0', model: 'prod', serviceId: 's', turn: 7, life: 'alive' },
  ...{ exposed: true, formula: 'Acme.Lab.blog', formulaVersion: '1.0.0.0', sha256: 'a'.repeat(64), size: 10 },
  ...{ manifest: { ...read.metadata, hooks: ['install', 'start'] }, settingsVersion: 3, timeouts: {}, resolutions: [] },
  ...{ internalAddress: null, assignedAddress: '10.0.0.5', publicAddress: '127.80.0.3', record: newUnitRecord() },
  ...{ failing: {}, skipped: [], agentSince: null, enteredAt: null, secret: none, latestSecret: none },
  ...{ enrolledAt, issuerKey: 'user:eve', issuerIsAdmin: false, releasedMachineAt: null },
};
const goal = (more: Partial<UnitFacts> = {}) => goalOf({ ...facts, ...more }, []);

test.each(['azure-1', 'a-1-b', 'p0', 'x'.repeat(maxModelName)])('a unit may be in the model %s', (model) => {
  expect(isModelName(model)).toBe(true);
  expect(unitState.shape.units.element.parse(goal({ model }))).toMatchObject({ model });
});

test('EN-33 the goal of a unit has the form that the protocol documents, without anything of the portal', () => {
  expect(unitState.shape.units.element.parse(goal())).toEqual({
    ...{ unit: 'blog/0', model: 'prod', turn: 7, goal: 'alive', serviceExposed: true, settingsVersion: 3 },
    formula: {
      ...{ id: 'Acme.Lab.blog', name: 'blog', version: '1.0.0.0', hooks: ['install', 'start'] },
      package: { sha256: 'a'.repeat(64), size: 10, url: `/agent/v1/packages/${'a'.repeat(64)}` },
    },
    ...{ timeouts: { default: 300, install: 900 }, masked: ['password'], resolution: null, relations: [] },
    addresses: { private: '10.0.0.5', public: '127.80.0.3' },
  });
});

test('the address that the agent reported takes precedence over the assigned one', () => {
  expect(goal({ internalAddress: '10.0.0.9' }).addresses.private).toBe('10.0.0.9');
});

test('time limits of the service take precedence over those of the formula', () => {
  expect(timeoutsOf({ manifest: facts.manifest, timeouts: { install: 5, start: 6 } })).toEqual({
    ...{ default: 300, install: 5, start: 6 },
  });
});

test('decisions are sent without who decided and when; several of them together with the last one', () => {
  const decided = (run: string, how: 'retry' | 'skip') => ({ run, how, at: '2026-11-01T12:00:00Z', by: 'Ada' });
  const one = goal({ resolutions: [decided('a', 'retry')] });
  expect([one.resolution, one.resolutions]).toEqual([{ run: 'a', how: 'retry' }, undefined]);
  const two = goal({ resolutions: [decided('a', 'retry'), decided('b', 'skip')] });
  expect(two.resolution).toEqual({ run: 'b', how: 'skip' });
  expect(two.resolutions).toEqual([
    { run: 'a', how: 'retry' },
    { run: 'b', how: 'skip' },
  ]);
});

test.each<[string, Partial<UnitFacts>, waits: boolean, needs: boolean]>([
  ['without protected settings', {}, false, false],
  ['whose settings are withheld', { secret: withheld, latestSecret: withheld }, true, true],
  ['whose service has other settings, which are withheld', { latestSecret: withheld }, false, true],
  ['whose settings are withheld, and whose service no longer has any', { secret: withheld }, true, true],
  ['whose settings were released', { secret: withheld, releasedMachineAt: enrolledAt }, false, false],
  ['that leaves', { secret: withheld, latestSecret: withheld, life: 'dying' }, false, false],
])('a unit %s', (_, more, waits, needs) => {
  const unit = { ...facts, ...more };
  expect([waitsForRelease(unit), unitNeedsRelease(unit)]).toEqual([waits, needs]);
  expect(goal(more).needsRelease).toBe(waits ? true : undefined);
});
