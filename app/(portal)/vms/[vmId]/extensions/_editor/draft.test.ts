import { expect, test } from 'vitest';
import { emptyDraft, goalOf, type Protected } from './draft.ts';
import { changeOfSecrets } from './secret-change.ts';

const replaced = (values: unknown): Protected => ({ mode: 'replace', values, text: '', unread: false });

test.each<[unknown, unknown]>([
  ['a connection string', 'a connection string'],
  ['', ''],
  [
    ['a', 'b'],
    ['a', 'b'],
  ],
  [[], []],
  [false, false],
  [0, 0],
  [{ key: 'value' }, { key: 'value' }],
  [{}, null],
])('protected settings %j are sent as %j', (values, sent) => {
  const goal = goalOf('Acme.Lab.Probe', emptyDraft('probe', '1.0.0.0'), replaced(values), false);
  expect(goal.settings?.protectedSettings).toEqual(sent);
  expect(changeOfSecrets(replaced(values), false)).toBe(sent === null ? null : 'add');
});
