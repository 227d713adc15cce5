import { expect, test } from 'vitest';
import { visibleRows } from './folds.ts';
import { foldsInSection, sectionOf, sectionRows } from './sections.ts';

test('a log of more than 500,000 rows is shown in sections, each with its own rows and folds', () => {
  const total = sectionRows + 20;
  const folds = [{ from: sectionRows - 5, to: sectionRows + 5 }];
  const first = visibleRows(total, foldsInSection(0, total, folds));
  const second = visibleRows(total, foldsInSection(1, total, folds));
  expect([first.count, first.rowAt(0), first.rowAt(first.count - 1)]).toEqual([sectionRows - 5, 0, sectionRows - 6]);
  expect([second.count, second.rowAt(0), second.rowAt(14)]).toEqual([15, sectionRows + 5, total - 1]);
  expect([sectionOf(sectionRows - 1), sectionOf(sectionRows)]).toEqual([0, 1]);
  expect(second.positionOf(total - 1)).toBe(14);
});

test('a log of one section is shown as a whole', () => {
  expect(foldsInSection(0, 100, [{ from: 5, to: 9 }])).toEqual([{ from: 5, to: 9 }]);
});
