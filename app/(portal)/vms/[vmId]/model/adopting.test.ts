import { expect, test } from 'vitest';
import { type AdoptingModel, obstacleOf, onlyChoice } from './adopting.ts';

const given = (name: string, more: Partial<AdoptingModel> = {}): AdoptingModel => ({
  ...{ name, life: 'alive', bootstrappedAt: '2026-01-01T10:00:00Z', availabilitySetsEnabled: false },
  ...more,
});

test.each([
  ['takes single machines', {}, null],
  ['has no network yet', { bootstrappedAt: null }, 'bootstrap'],
  ['uses availability sets', { availabilitySetsEnabled: true }, 'sets'],
  [
    'uses availability sets, also before its bootstrap',
    { availabilitySetsEnabled: true, bootstrappedAt: null },
    'sets',
  ],
  ['is being destroyed', { life: 'destroying', availabilitySetsEnabled: true }, 'destroying'],
] as const)('a model that %s', (_, more, obstacle) => {
  expect(obstacleOf(given('prod', more))).toBe(obstacle);
});

test('the only model that takes the VM is chosen first', () => {
  const other = given('azure', { availabilitySetsEnabled: true });
  expect(onlyChoice([other, given('prod')])).toBe('prod');
  expect(onlyChoice([given('lab'), given('prod')])).toBeNull();
  expect(onlyChoice([other])).toBeNull();
});
