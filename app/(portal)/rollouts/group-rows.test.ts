import { expect, test } from 'vitest';
import { groupRows } from './group-rows.ts';
import type { ListedRollout } from './rollout-data.ts';

const row = (id: string, state: string, part: object = {}) =>
  ({ id, state, needsPerson: false, of: null, ...part }) as unknown as ListedRollout;

test('rollouts that need a person come first, and a revert is listed below what it reverts', () => {
  const groups = groupRows([
    row('revert', 'finished', { of: 'reverted' }),
    row('halted', 'paused', { needsPerson: true }),
    row('open', 'running'),
    row('reverted', 'aborted'),
    row('alone', 'finished', { of: 'not-on-this-page' }),
  ]);
  const shown = (name: keyof typeof groups) =>
    groups[name].map(({ row: { id }, isPart }) => `${isPart ? '↳' : ''}${id}`);
  expect(shown('needs')).toEqual(['halted']);
  expect(shown('running')).toEqual(['open']);
  expect(shown('ended')).toEqual(['reverted', '↳revert', 'alone']);
});
