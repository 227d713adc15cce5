import { describe, expect, test } from 'vitest';
import { matchEndpoints, type NamedService, pairText, readEndpoint } from './match-endpoints.ts';

type Sides = Partial<Record<'provides' | 'requires', Record<string, string>>>;

function named(text: string, { provides = {}, requires = {} }: Sides): NamedService {
  const side = (given: Record<string, string>, limit: number | null) =>
    Object.fromEntries(
      Object.entries(given).map(([name, spoken]) => [name, { interface: spoken, limit, optional: false }]),
    );
  return { ...readEndpoint(text), formula: { provides: side(provides, null), requires: side(requires, 1), peers: {} } };
}

const wordpress = { requires: { db: 'mysql', cache: 'memcache' }, provides: { website: 'http' } };
const mysql = { provides: { db: 'mysql', shared: 'mysql' } };
const cache = { provides: { cache: 'memcache' } };

const textOf = (one: NamedService, other: NamedService) => {
  const match = matchEndpoints(one, other);
  if (match.kind === 'pair') return pairText(match.pair);
  return match.kind === 'ambiguous' ? match.pairs.map(pairText) : match.offers;
};

describe('endpoints of two services', () => {
  test.each([
    ['wordpress', 'cache', 'wordpress:cache cache:cache'],
    ['cache', 'wordpress', 'wordpress:cache cache:cache'],
    ['wordpress:cache', 'cache:cache', 'wordpress:cache cache:cache'],
  ])('%s and %s fit in one way', (one, other, pair) => {
    const of = (text: string) => named(text, text.startsWith('w') ? wordpress : cache);
    expect(textOf(of(one), of(other))).toBe(pair);
  });

  test('a name that is given selects among several pairs', () => {
    expect(textOf(named('wordpress', wordpress), named('mysql', mysql))).toEqual([
      'wordpress:db mysql:db',
      'wordpress:db mysql:shared',
    ]);
    expect(textOf(named('wordpress', wordpress), named('mysql:shared', mysql))).toBe('wordpress:db mysql:shared');
  });

  test('a pair has the limits of its endpoints', () => {
    const match = matchEndpoints(named('wordpress', wordpress), named('mysql:db', mysql));
    expect(match).toEqual({
      kind: 'pair',
      pair: {
        interface: 'mysql',
        provides: { service: 'mysql', name: 'db', limit: null },
        requires: { service: 'wordpress', name: 'db', limit: 1 },
      },
    });
  });

  test.each([
    ['mysql', mysql, 'cache', cache],
    ['wordpress:website', wordpress, 'mysql', mysql],
    ['wordpress:none', wordpress, 'cache', cache],
    ['wordpress:db', wordpress, 'cache', cache],
  ])('%s does not fit, and the answer lists what each service offers', (one, its, other, others) => {
    const offers = textOf(named(one, its), named(other, others));
    expect(offers).toHaveLength(2);
    expect(offers[0]).toMatch(
      its === mysql ? /^mysql \(provides: db \[mysql\], shared \[mysql\]\)$/ : /requires: cache/,
    );
  });

  test('a service cannot be related to itself, because a unit has one node in a relation', () => {
    const own = { provides: { up: 'chain' }, requires: { down: 'chain' } };
    expect(matchEndpoints(named('ring', own), named('ring', own)).kind).toBe('none');
    expect(textOf(named('ring', own), named('other', {}))).toEqual([
      'ring (provides: up [chain]; requires: down [chain])',
      'other (–)',
    ]);
  });
});
