import { expect, test } from 'vitest';
import { storedNow } from './settings-draft.ts';

const data = { settings: { title: 'News' } };

test('the settings dialog edits the stored settings, not those that an earlier page loaded', () => {
  expect(storedNow({ data, isSuccess: true, isFetchedAfterMount: false })).toBeUndefined();
  expect(storedNow({ data, isSuccess: false, isFetchedAfterMount: true })).toBeUndefined();
  expect(storedNow({ data, isSuccess: true, isFetchedAfterMount: true })).toBe(data);
});
