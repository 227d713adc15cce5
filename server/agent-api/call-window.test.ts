import { expect, test } from 'vitest';
import { acceptCall, type CallWindow } from './call-window.ts';

const unmet = (): CallWindow => ({ highest: -1, near: 0, far: 0 });

test('accepts a number once, in whatever order calls arrive', () => {
  const window = unmet();
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
    expect(acceptCall(window, counter, 0), `${counter} after ${highest}`).toBe(isRight);
    if (!isRight) continue;
    seen.add(counter);
    highest = Math.max(highest, counter);
  }
});

test('a process that has not seen the machine before continues from the stored number', () => {
  expect(acceptCall(unmet(), 92, 100)).toBe(false);
  expect(acceptCall(unmet(), 93, 100)).toBe(true);
  expect(acceptCall(unmet(), 1, 0)).toBe(true);
  expect(acceptCall(unmet(), 0, 0)).toBe(false);
});
