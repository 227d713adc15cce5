import { expect, test } from 'vitest';
import { stepMarkLetters, stepMarks } from '#server/domain/rollout-rules/step-marks.ts';
import { nextUnhealthy, unpackCells, worstOf } from './cells.ts';
import { firstCalmMark } from './looks.ts';
import { countMark, markAt } from './marks.ts';

const cells = unpackCells('h2qfsn3', 8, stepMarkLetters);

test('the cells of a rollout are unpacked into marks', () => {
  const marks = [...cells].map(markAt);
  expect(marks).toEqual(['succeeded', 'succeeded', 'queued', 'failed', 'soaking', 'none', 'none', 'none']);
  expect(countMark(cells, 'none')).toBe(3);
  expect(countMark(cells, 'parked')).toBe(0);
  expect(markAt(undefined)).toBe('none');
});

test('a cell with several VMs shows the mark that needs attention first', () => {
  expect([...worstOf(cells, 3)].map(markAt)).toEqual(['queued', 'failed', 'none']);
  expect([...worstOf(unpackCells('n2', 2, stepMarkLetters), 2)].map(markAt)).toEqual(['none']);
});

test('the next cell that needs attention failed, is changing or is parked', () => {
  expect(nextUnhealthy([cells], { group: 0, cell: -1 }, 1, firstCalmMark)).toEqual({ group: 0, cell: 3 });
  expect(nextUnhealthy([cells], { group: 0, cell: 3 }, 1, firstCalmMark)).toEqual({ group: 0, cell: 4 });
  expect(stepMarks.slice(0, firstCalmMark)).toEqual(['failed', 'reverted', 'inFlight', 'soaking', 'parked']);
});
