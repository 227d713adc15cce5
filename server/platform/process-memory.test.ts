import { expect, test } from 'vitest';
import { ProcessMemory, slot } from './process-memory.ts';

test('a slot has one value in each memory', () => {
  const names = slot(() => new Set<string>());
  const [one, other] = [new ProcessMemory(), new ProcessMemory()];
  one.of(names).add('a');
  expect([...one.of(names)]).toEqual(['a']);
  expect([...other.of(names)]).toEqual([]);
});
