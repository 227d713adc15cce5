import { describe, expect, test } from 'vitest';
import type { ShownRelation, ShownService } from '../service-data.ts';
import { findService, firstMiddle, neighborhoodOf } from './neighborhood.ts';

const service = (name: string, ...health: string[]) =>
  ({ name, units: health.map((one) => ({ health: one })) }) as unknown as ShownService;
const relation = (number: number, from: string, to: string) =>
  ({
    number,
    endpoints: [
      { side: 'requires', service: from },
      { side: 'provides', service: to },
    ],
  }) as unknown as ShownRelation;

const services = ['a', 'b', 'c', 'd', 'e', 'lone'].map((name) => service(name, 'healthy'));
const relations = [relation(1, 'a', 'b'), relation(2, 'b', 'c'), relation(3, 'c', 'd'), relation(4, 'd', 'e')];
const shown = (middle: string, most = 200) => {
  const found = neighborhoodOf({ services, relations }, middle, most);
  return [found.services.map(({ name }) => name).join(''), found.relations.map(({ number }) => number).join('')];
};

describe('a picture of a part of a large model', () => {
  test.each([
    ['a', 'abc', '12'],
    ['c', 'abcde', '1234'],
    ['e', 'cde', '34'],
    ['lone', 'lone', ''],
  ])('around %s shows what is at most two relations away', (middle, names, lines) => {
    expect(shown(middle)).toEqual([names, lines]);
  });

  test('shows the nearest services if there are too many, and only relations between shown services', () => {
    expect(shown('c', 3)).toEqual(['bcd', '23']);
  });

  test('starts with the worst service, and with a related one if all are well', () => {
    expect(firstMiddle({ services, relations })).toBe('a');
    expect(firstMiddle({ services: [...services, service('ill', 'failed')], relations })).toBe('ill');
    expect(firstMiddle({ services: services.slice(5), relations: [] })).toBe('lone');
    expect(firstMiddle({ services: [], relations: [] })).toBeUndefined();
  });
});

test.each([
  ['blog', 'blog'],
  [' BLO', 'blog-old'],
  ['og', 'blog-old'],
  ['old', 'blog-old'],
  ['nothing', undefined],
  [' ', undefined],
])('the search for %j finds %s', (search, name) => {
  expect(findService([{ name: 'blog-old' }, { name: 'blog' }], search)).toBe(name);
});
