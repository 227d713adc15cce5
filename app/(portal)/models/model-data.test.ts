import { expect, test } from 'vitest';
import { modelHref, needsOf, placeHref, servicesHref, worstOf } from './model-data.ts';

const alive = { life: 'alive' as const, bootstrappedAt: '2026-03-01T12:00:00Z', health: {} };

test.each([
  ['a new model must be bootstrapped', { ...alive, bootstrappedAt: null }, [{ kind: 'bootstrap' }]],
  ['a model without machines needs no action', alive, []],
  ['healthy machines need no action', { ...alive, health: { healthy: 3, progressing: 1 } }, []],
  [
    'the worst comes first, and machines without a known state last',
    { ...alive, health: { unknown: 2, degraded: 1, failed: 3, healthy: 1 } },
    [
      { kind: 'health', health: 'failed', count: 3 },
      { kind: 'health', health: 'degraded', count: 1 },
      { kind: 'unknown', count: 2 },
    ],
  ],
  [
    'a model that is being destroyed shows only that',
    { ...alive, life: 'destroying' as const, health: { failed: 1 } },
    [{ kind: 'destroying' }],
  ],
])('%s', (_, model, expected) => {
  expect(needsOf(model)).toEqual(expected);
});

test('the health of a model is the worst of its machines', () => {
  expect(worstOf({ healthy: 5, unknown: 1, unresponsive: 1 })).toBe('unresponsive');
  expect(worstOf({ healthy: 5, unknown: 1 })).toBe('unknown');
  expect(worstOf({ healthy: 5 })).toBe('healthy');
  expect(worstOf({})).toBeNull();
});

test('links name a model and the VMs at a place', () => {
  expect(modelHref('prod')).toBe('/models/prod');
  expect(servicesHref('prod')).toBe('/models/prod?view=services');
  expect(servicesHref('prod', 'failed')).toBe('/models/prod?view=services&health=failed');
  expect(placeHref({ model: 'prod' }, { health: ['failed'] })).toBe('/vms?model=prod&health=failed');
  expect(placeHref({ availabilitySet: 'juju-prod-k3j9x0a1bz/juju' })).toBe(
    '/vms?availabilitySet=juju-prod-k3j9x0a1bz%2Fjuju',
  );
});
