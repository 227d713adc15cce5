import { expect, test } from 'vitest';
import type { ShownUnit } from '../service-data.ts';
import { waveOf } from './wave.ts';

const unit = (number: number, more: Partial<ShownUnit> = {}): ShownUnit => ({
  ...{ unit: `blog/${number}`, number, life: 'alive', stage: 'started', health: 'healthy', cause: null, hook: null },
  ...{ vmId: 'v', vm: 'prod', machine: 0, publicAddress: null, version: '2.0.0.0', settingsVersion: 3 },
  ...{ isStaged: false, isConfirmed: true, needsRelease: false, ports: [], failing: [] },
  ...{ running: null, next: null },
  ...more,
});
const old = (number: number) => unit(number, { version: '1.0.0.0', settingsVersion: 2 });
const changing = (number: number, more: Partial<ShownUnit> = {}) =>
  unit(number, { isConfirmed: false, stage: 'upgrading', ...more });
const failing = { failing: [{ hook: 'upgrade-formula' }] as ShownUnit['failing'] };

const service = (...units: ShownUnit[]) => ({ version: '2.0.0.0', settingsVersion: 3, units });
const states = (...units: ShownUnit[]) => waveOf(service(...units))?.units.map(({ state }) => state);

test('there is no wave if all units have the version and the settings', () => {
  expect(waveOf(service(unit(0), unit(1)))).toBeNull();
  expect(waveOf(service())).toBeNull();
});

test('EN-56 units change one after the other', () => {
  const wave = waveOf(service(unit(0), changing(1), old(2)));
  expect(wave).toMatchObject({ done: 1, isStopped: false, earlier: ['1.0.0.0'], isUpgrade: true });
  expect(wave?.units.map(({ state }) => state)).toEqual(['done', 'changing', 'waiting']);
});

test('a unit that fails stops the others, and the wave names the version to go back to', () => {
  const wave = waveOf(service(changing(0, failing), old(1)));
  expect(wave).toMatchObject({ isStopped: true, earlier: ['1.0.0.0'] });
  expect(states(changing(0, failing), unit(1))).toEqual(['failed', 'done']);
  expect(waveOf(service(changing(0, failing), unit(1)))?.isStopped).toBe(false);
});

test('a change of settings is a wave, but no upgrade', () => {
  const wave = waveOf(service(unit(0, { isConfirmed: false }), unit(1, { settingsVersion: 2 })));
  expect(wave).toMatchObject({ isUpgrade: false, earlier: [] });
});

test('units that have not started, or leave, are not part of it', () => {
  const starting = unit(0, { stage: 'installing', isConfirmed: false });
  expect(waveOf(service(starting, unit(1, { life: 'dying', isConfirmed: false })))).toBeNull();
});

test('units in Staging keep their version, and are no part of the wave', () => {
  expect(waveOf(service(unit(0), unit(1, { version: '1.0.0.0', isStaged: true })))).toBeNull();
});
