import { expect, test } from 'vitest';
import { CallWindow } from './call-window.ts';

test('a number counts once, whichever way calls overtake each other', () => {
  const window = new CallWindow();
  const seen = new Set<number>();
  let highest = 0;
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % below;
  };
  for (let turn = 0; turn < 20_000; turn++) {
    const counter = Math.max(1, highest + random(turn % 50 === 0 ? 90 : 6) - random(80));
    const isRight = highest === 0 || (counter > highest - 64 && !seen.has(counter));
    expect(window.accept(counter, 0), `${counter} after ${highest}`).toBe(isRight);
    if (!isRight) continue;
    seen.add(counter);
    highest = Math.max(highest, counter);
  }
});

test('a process that has not met the machine goes on from the number that was written down', () => {
  expect(new CallWindow().accept(92, 100)).toBe(false);
  expect(new CallWindow().accept(93, 100)).toBe(true);
  expect(new CallWindow().accept(1, 0)).toBe(true);
  expect(new CallWindow().accept(0, 0)).toBe(false);
});
