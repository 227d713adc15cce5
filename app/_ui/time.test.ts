import { expect, test } from 'vitest';
import { bundlesOf } from '#app/_lib/i18n/catalog.ts';
import { translate } from '#app/_lib/i18n/translate.ts';
import { durationWords } from './time.tsx';

const german = bundlesOf('de', ['common']);
const t = ((key: string, values: Record<string, number>) =>
  translate('de', german, ['common'], key, values)) as unknown as Parameters<typeof durationWords>[0];

const day = 24 * 60 * 60_000;

test.each([
  [day, '1 Tag', '1 Tag'],
  [3 * day, '3 Tage', '3 Tagen'],
  [90 * 60_000, '1 h', '1 h'],
])('German durations take another form after “seit”: %i ms', (length, alone, afterSince) => {
  expect([durationWords(t, length), durationWords(t, length, 'since')]).toEqual([alone, afterSince]);
});
