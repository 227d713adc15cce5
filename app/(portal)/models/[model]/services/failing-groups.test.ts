import { expect, test } from 'vitest';
import { failingGroups } from './failing-groups.ts';
import type { ShownService } from './service-data.ts';

type Unit = ShownService['units'][number];
type Failing = Unit['failing'][number];

const failure = (more: Partial<Failing> = {}): Failing => ({
  ...{ hook: 'db-relation-changed', run: 'r', failures: 1, outcome: 'failed', exitCode: 1 },
  ...{ since: '2026-11-29T12:00:00Z', remoteUnit: 'mysql/0', resolution: null, reason: null },
  ...more,
});

const service = (name: string, formula: string, ...failing: Failing[][]) => ({
  ...{ name, formula },
  units: failing.map((each, number) => ({ unit: `${name}/${number}`, failing: each }) as Unit),
});

const reason = (text: string) => ({ id: 'login', text, lang: 'en' });

test('the same failure of one formula is one group, even in several services', () => {
  const groups = failingGroups([
    service('blog', 'Acme.Lab.blog', [failure({ run: 'a', failures: 8 })], []),
    service('news', 'Acme.Lab.blog', [failure({ run: 'b', since: '2026-11-29T11:00:00Z', resolution: 'retry' })]),
  ]);
  expect(groups).toMatchObject([
    {
      ...{ formula: 'Acme.Lab.blog', hook: 'db-relation-changed', failures: 8, since: '2026-11-29T11:00:00Z' },
      units: [
        { unit: 'blog/0', service: 'blog', run: 'a', isRetried: false },
        { unit: 'news/0', service: 'news', run: 'b', isRetried: true },
      ],
    },
  ]);
});

test.each([
  ['another formula', service('other', 'Acme.Lab.other', [failure()])],
  ['another hook', service('other', 'Acme.Lab.blog', [failure({ hook: 'install' })])],
  ['another exit code', service('other', 'Acme.Lab.blog', [failure({ exitCode: 2 })])],
  ['another outcome', service('other', 'Acme.Lab.blog', [failure({ outcome: 'timed-out', exitCode: null })])],
  ['another reason', service('other', 'Acme.Lab.blog', [failure({ reason: reason('No login for b.') })])],
])('%s is another group', (_, other) => {
  const first = service('blog', 'Acme.Lab.blog', [failure({ reason: null })]);
  expect(failingGroups([first, other])).toHaveLength(2);
});

test('the group with the most units comes first, and of equal groups the one that has failed longest', () => {
  const groups = failingGroups([
    service('blog', 'F', [failure({ hook: 'late', since: '2026-11-29T12:00:00Z' })]),
    service('store', 'F', [failure({ hook: 'early', since: '2026-11-29T10:00:00Z' })]),
    service('web', 'F', [failure({ hook: 'many' })], [failure({ hook: 'many' })]),
  ]);
  expect(groups.map(({ hook }) => hook)).toEqual(['many', 'early', 'late']);
  expect(failingGroups([])).toEqual([]);
});
