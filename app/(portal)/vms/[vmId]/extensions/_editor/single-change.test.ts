import { expect, test } from 'vitest';
import { asWhole, changedSettings, changesOf, type SingleChange, withChange } from './single-change.ts';

const none: SingleChange = { mode: 'change', set: {}, remove: [], open: [] };
const present = {
  changedAt: '2026-03-01T08:00:00Z',
  changedBy: 'Ada',
  needsSecrets: false,
  needsRelease: false,
  settings: ['password', 'keytab'].map((name) => ({ name, changedAt: '2026-03-01T08:00:00Z', changedBy: 'Ada' })),
  unnamed: 0,
  obstacle: null,
};

test('an input that is open without a value changes nothing', () => {
  const open = withChange(none, 'password', 'empty');
  expect(open.open).toEqual(['password']);
  expect(changesOf(open)).toBeUndefined();
  expect(changedSettings(open, present, [])).toEqual([]);
});

test('a setting is either set or removed, and can be kept again', () => {
  const set = withChange(withChange(none, 'keytab', 'remove'), 'keytab', { given: 'new' });
  expect(changesOf(set)).toEqual({ set: { keytab: 'new' }, remove: [] });
  const removed = withChange(set, 'keytab', 'remove');
  expect(changesOf(removed)).toEqual({ set: {}, remove: ['keytab'] });
  expect(withChange(removed, 'keytab', 'keep')).toEqual(none);
});

test('values that were typed are kept if the stored settings are deleted meanwhile', () => {
  const draft = withChange(withChange(none, 'password', { given: 'new' }), 'keytab', 'remove');
  expect(asWhole(draft)).toMatchObject({ mode: 'replace', values: { password: 'new' } });
  expect(asWhole({ mode: 'remove' })).toEqual({ mode: 'remove' });
});

test('changes are listed in the order of the form', () => {
  const draft = withChange(withChange(withChange(none, 'token', { given: 1 }), 'keytab', 'remove'), 'password', {
    given: 'new',
  });
  expect(changedSettings(draft, present, ['password', 'keytab'])).toEqual([
    { name: 'password', change: 'replace' },
    { name: 'keytab', change: 'remove' },
    { name: 'token', change: 'add' },
  ]);
  expect(changedSettings({ mode: 'keep' }, present, [])).toEqual([]);
});
