import { expect, test } from 'vitest';
import { fitted, opening, revealing, zoomed } from './use-viewport.ts';

const frame = { width: 800, height: 400 };

test('a small picture keeps its size in the middle, and a large one becomes smaller', () => {
  expect(fitted({ width: 400, height: 200 }, frame)).toEqual({ x: 200, y: 100, scale: 1 });
  expect(fitted({ width: 1600, height: 400 }, frame)).toEqual({ x: 0, y: 100, scale: 0.5 });
  expect(fitted({ width: 80_000, height: 400 }, frame).scale).toBe(0.2);
});

test('a narrow frame starts with readable text, unless the whole picture is readable', () => {
  const phone = { width: 320, height: 300 };
  expect(opening({ width: 1_000, height: 300 }, phone)).toEqual({ x: 0, y: 0, scale: 0.75 });
  expect(opening({ width: 400, height: 300 }, phone)).toEqual(fitted({ width: 400, height: 300 }, phone));
  expect(opening({ width: 1600, height: 400 }, frame)).toEqual(fitted({ width: 1600, height: 400 }, frame));
});

test('a zoom keeps its point in place, within the limits', () => {
  const at = { x: 100, y: 50 };
  const { x, y, scale } = zoomed({ x: 20, y: 10, scale: 1 }, 1.5, at);
  expect((at.x - x) / scale).toBeCloseTo(80);
  expect((at.y - y) / scale).toBeCloseTo(40);
  expect(zoomed({ x: 0, y: 0, scale: 2 }, 4, at).scale).toBe(2);
  expect(zoomed({ x: 0, y: 0, scale: 0.2 }, 0.1, at).scale).toBe(0.2);
});

test('a box outside the frame comes into view, and one inside moves nothing', () => {
  const box = { x: 900, y: 10, width: 200, height: 100 };
  expect(revealing({ x: 0, y: 0, scale: 1 }, box, frame)).toEqual({ x: -300, y: 0, scale: 1 });
  expect(revealing({ x: -300, y: 0, scale: 1 }, box, frame)).toEqual({ x: -300, y: 0, scale: 1 });
  expect(revealing({ x: -1_000, y: 0, scale: 1 }, box, frame).x).toBe(-900);
});
