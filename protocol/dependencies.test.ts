import { expect, test } from 'vitest';
import { cycleThrough, type Dependent, dependencyLevels, findCycle, runOrder } from './dependencies.ts';

/** Parses `a<b,c`: a depends on b and c. */
const items = (...lines: string[]): Dependent[] =>
  lines.map((line) => {
    const [name = '', others = ''] = line.split('<');
    return { name, dependsOn: others === '' ? [] : others.split(',') };
  });

test.each<[Dependent[], string]>([
  [items('c<b', 'b<a', 'a'), 'a b c'],
  [items('b', 'a'), 'b a'],
  [items('a<b', 'b<a', 'c<a'), 'b a c'],
  [items('a<unknown', 'b'), 'a b'],
])('runOrder sorts %j', (all, order) => {
  expect(
    runOrder(all)
      .map(({ name }) => name)
      .join(' '),
  ).toBe(order);
});

test('runOrder sorts a chain of 20,000 items without exhausting the stack', () => {
  const chain = Array.from({ length: 20_000 }, (_, n) => ({ name: `${n}`, dependsOn: [`${n + 1}`] }));
  expect(runOrder(chain)[0]?.name).toBe('19999');
});

test('the level of an item is the length of the longest chain below it', () => {
  const levels = dependencyLevels(
    items('last<first,third,unknown', 'third<second', 'second<first', 'first', 'x<unknown'),
  );
  expect(Object.fromEntries(levels)).toEqual({ first: 0, second: 1, third: 2, last: 3, x: 0 });
});

test.each<[string, Dependent[], string | null]>([
  ['none', items('a<b', 'b<c', 'c'), null],
  ['a diamond is none', items('a<b,c', 'b<d', 'c<d', 'd'), null],
  ['an item that depends on itself', items('a<a'), 'a a'],
  ['two items', items('a<b', 'b<a'), 'a b a'],
  ['a cycle behind a chain', items('a<b', 'b<c', 'c<b'), 'b c b'],
  ['a dependency on an unknown name', items('a<unknown'), null],
])('findCycle: %s', (_, all, cycle) => {
  expect(findCycle(all)?.join(' ') ?? null).toBe(cycle);
});

test.each<[string, Dependent[], string, string, string | null]>([
  ['no dependencies', items('a', 'b'), 'a', 'b', null],
  ['the other item depends on this one', items('a', 'b<a'), 'a', 'b', 'a b a'],
  ['through a third item', items('a', 'b<c', 'c<a'), 'a', 'b', 'a b c a'],
  ['the shorter of two cycles', items('a', 'b<c,d', 'c<d', 'd<a'), 'a', 'b', 'a b d a'],
  ['a dependency on itself', items('a'), 'a', 'a', 'a a'],
  ['a cycle among other items does not count', items('a', 'b<c', 'c<b'), 'a', 'b', null],
  ['an unknown name', items('a'), 'a', 'unknown', null],
])('cycleThrough: %s', (_, all, name, choice, path) => {
  expect(cycleThrough(all, name, choice)?.join(' ') ?? null).toBe(path);
});
