import { expect, test } from 'vitest';
import { currentMark, isSnoozed, type StoredMark } from './mark.ts';
import type { FleetProblem } from './problem.ts';

const now = new Date('2026-03-04T12:00:00Z');
const at = '2026-03-04T11:00:00.000Z';
const assignee = { id: 'ada', name: 'Ada', by: 'Bob', at };

const problem = (vms: number, versions: string[]): FleetProblem => ({
  ...{ key: 'k', health: 'failed', vms, since: at, lastSince: at, extension: null, silence: 'alone', versions },
  messageId: null,
  sample: { vmIds: [], extension: '', version: '' },
});
const snoozedOf = (until: string | null, vms = 3, versions = ['1.0', '2.0']): StoredMark => ({
  ...{ key: 'k', assignee, versions, goneAt: null },
  snooze: { until, by: 'Bob', at, vms },
});

test.each<[string, StoredMark, FleetProblem, boolean]>([
  ['without a snooze', { ...snoozedOf(null), snooze: null }, problem(1, []), false],
  ['until later, with more VMs', snoozedOf('2026-03-04T12:00:00.001Z'), problem(99, ['3.0']), true],
  ['until now', snoozedOf('2026-03-04T12:00:00.000Z'), problem(3, ['1.0']), false],
  ['until earlier', snoozedOf('2026-03-04T11:30:00.000Z'), problem(1, []), false],
  ['until it changes, with the same VMs', snoozedOf(null), problem(3, ['1.0', '2.0']), true],
  ['until it changes, with fewer VMs and versions', snoozedOf(null), problem(1, ['2.0']), true],
  ['until it changes, with one more VM', snoozedOf(null), problem(4, ['1.0']), false],
  ['until it changes, with another version', snoozedOf(null), problem(2, ['1.0', '2.1']), false],
  ['until it changes, without versions', snoozedOf(null, 3, []), problem(3, []), true],
])('a problem snoozed %s: %#', (_, mark, current, expected) => {
  expect(isSnoozed(mark, current, now)).toBe(expected);
  expect(currentMark(mark, current, now)).toEqual({ assignee, snooze: expected ? mark.snooze : null });
});

test('a problem without a mark has no assignee and is not snoozed', () => {
  expect(currentMark(undefined, problem(1, []), now)).toEqual({ assignee: null, snooze: null });
});
