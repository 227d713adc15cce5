import { expect, test } from 'vitest';
import { shownSettings } from './shown-settings.ts';

const settingKeys = ['comments', 'title'];

test('values are shown as text, and those of the formula are marked', () => {
  const effectiveSettings = { title: 'News', comments: true };
  expect(shownSettings({ settings: { title: 'News' }, effectiveSettings, settingKeys })).toEqual([
    { key: 'comments', value: 'true', isDefault: true },
    { key: 'title', value: 'News', isDefault: false },
  ]);
});

test('a viewer sees only names', () => {
  const shown = shownSettings({ settings: null, effectiveSettings: null, settingKeys });
  expect(shown.map(({ value }) => value)).toEqual([null, null]);
});
