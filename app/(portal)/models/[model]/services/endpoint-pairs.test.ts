import { expect, test } from 'vitest';
import { endpointPairs, endpointText } from './endpoint-pairs.ts';
import type { ShownEndpointOfFormula, ShownService } from './service-data.ts';

type Given = [side: ShownEndpointOfFormula['side'], name: string, spoken: string, more?: object];

const service = (name: string, ...endpoints: Given[]): Pick<ShownService, 'name' | 'life' | 'endpoints'> => ({
  ...{ name, life: 'alive' },
  endpoints: endpoints.map(([side, endpoint, spoken, more]) => ({
    ...{ side, name: endpoint, interface: spoken, optional: false, relations: 0 },
    limit: side === 'requires' ? 1 : null,
    ...more,
  })),
});

const blog = service('blog', ['requires', 'cache', 'memcache', { optional: true }], ['requires', 'db', 'mysql']);
const store = service('store', ['provides', 'db', 'mysql'], ['peers', 'cluster', 'mysql']);
const cache = service('cache', ['provides', 'cache', 'memcache']);

const texts = (...given: Parameters<typeof endpointPairs>) =>
  endpointPairs(...given).map(({ requires, provides }) => `${endpointText(requires)} ${endpointText(provides)}`);

test('endpoints match by interface, and what a formula needs comes first', () => {
  expect(texts([blog, store, cache], [])).toEqual(['blog:db store:db', 'blog:cache cache:cache']);
});

test('a pair that is related already is not offered again', () => {
  const endpoints = [
    { side: 'provides' as const, service: 'store', name: 'db' },
    { side: 'requires' as const, service: 'blog', name: 'db' },
  ];
  expect(texts([blog, store], [{ endpoints }])).toEqual([]);
});

test.each([
  [
    'an endpoint with all relations that its formula allows',
    service('b', ['requires', 'db', 'mysql', { relations: 1 }]),
    store,
  ],
  ['a service that is being removed', { ...service('b', ['requires', 'db', 'mysql']), life: 'dying' as const }, store],
  ['another interface', service('b', ['requires', 'db', 'postgres']), store],
  ['two services that both provide', service('b', ['provides', 'db', 'mysql']), store],
])('%s has no pair', (_, one, other) => {
  expect(texts([one, other], [])).toEqual([]);
});

test('a service is not related to itself', () => {
  expect(texts([service('loop', ['requires', 'in', 'x'], ['provides', 'out', 'x'])], [])).toEqual([]);
});
