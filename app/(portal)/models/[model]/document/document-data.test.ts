import { expect, test } from 'vitest';
import {
  countChanges,
  countNewHooks,
  groupHooks,
  leavesOut,
  readText,
  type ShownPlan,
  textOf,
} from './document-data.ts';

const hook = (name: string, when: 'already' | 'now' | 'started', count = 1) => ({
  ...{ hook: name, because: 'joined', when, count, remoteUnits: [] },
});
const plan: ShownPlan = {
  ...{ model: 'prod', revision: 7, prune: false, machines: [], warnings: [], planHash: 'x' },
  acts: [{ kind: 'expose', service: 'blog', path: '/services/blog/exposed', exposed: true }],
  left: { services: [], units: ['blog/2'], relations: [], machines: [3] },
  hooks: [
    { unit: 'blog/0', hooks: [hook('config-changed', 'now'), hook('db-relation-joined', 'started', 30)] },
    { unit: 'mysql/0', hooks: [hook('start', 'already')] },
    { unit: 'blog/1', hooks: [hook('config-changed', 'now'), hook('db-relation-joined', 'started', 30)] },
  ],
};

test('what stays counts as a change only if it is removed', () => {
  expect([countChanges(plan), countChanges({ ...plan, prune: true })]).toEqual([1, 3]);
  expect(leavesOut(plan)).toBe(true);
  expect(leavesOut({ ...plan, left: { services: [], units: [], relations: [], machines: [] } })).toBe(false);
});

test('units that run the same hooks are one row', () => {
  expect(groupHooks(plan.hooks).map(({ units, count }) => [units.join(), count])).toEqual([
    ['blog/0,blog/1', 31],
    ['mysql/0', 1],
  ]);
});

test('hooks that are due anyway are not caused by the plan', () => {
  expect(countNewHooks(plan)).toBe(62);
});

test('the text of a document is read as the same document', () => {
  const document = {
    annex: 1,
    model: 'prod',
    location: 'x',
    storageAccount: 'y',
    services: {},
    relations: [],
  } as const;
  expect(readText(textOf({ ...document, relations: [] }))).toEqual({ value: document });
  expect(readText('{')).toBeNull();
});
