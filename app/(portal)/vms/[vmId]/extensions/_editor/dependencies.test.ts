import { describe, expect, test } from 'vitest';
import { circleThrough, edgesOf, runOrder, type Waiting } from './dependencies.ts';

/** `a<b,c`: a waits for b and c. */
const vm = (...lines: string[]): Waiting[] =>
  lines.map((line) => {
    const [name = '', others = ''] = line.split('<');
    return { name, dependsOn: others === '' ? [] : others.split(',') };
  });

test.each<[string, Waiting[], string, string, string | null]>([
  ['no one waits yet', vm('a', 'b'), 'a', 'b', null],
  ['the other waits for this one', vm('a', 'b<a'), 'a', 'b', 'a b a'],
  ['by way of a third', vm('a', 'b<c', 'c<a'), 'a', 'b', 'a b c a'],
  ['the shortest of two', vm('a', 'b<c,d', 'c<d', 'd<a'), 'a', 'b', 'a b d a'],
  ['for itself', vm('a'), 'a', 'a', 'a a'],
  ['a circle of others is not this one’s', vm('a', 'b<c', 'c<b'), 'a', 'b', null],
  ['a name that is not there', vm('a'), 'a', 'gone', null],
])('a circle: %s', (_, all, name, choice, path) => {
  expect(circleThrough(all, name, choice)?.join(' ') ?? null).toBe(path);
});

describe('the picture', () => {
  test('edges lead from who runs first, and circles are marked', () => {
    expect(edgesOf(vm('a<b', 'b<a', 'c<a,gone'))).toEqual([
      { from: 'b', to: 'a', inCircle: true },
      { from: 'a', to: 'b', inCircle: true },
      { from: 'a', to: 'c', inCircle: false },
    ]);
  });

  test.each<[Waiting[], string]>([
    [vm('c<b', 'b<a', 'a'), 'a b c'],
    [vm('b', 'a'), 'a b'],
    [vm('a<b', 'b<a', 'c<a'), 'b a c'],
  ])('the order of %j', (all, order) => {
    expect(runOrder(all).join(' ')).toBe(order);
  });
});
