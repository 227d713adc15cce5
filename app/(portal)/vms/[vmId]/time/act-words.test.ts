import { expect, test } from 'vitest';
import { bundlesOf } from '#app/_lib/i18n/catalog.ts';
import { translate } from '#app/_lib/i18n/translate.ts';
import { actWords } from './use-event-words.ts';

const german = bundlesOf('de', ['timeline']);
const t = ((key: string, values: Record<string, string>) =>
  translate('de', german, ['timeline'], key, values)) as unknown as Parameters<typeof actWords>[0];

test.each([
  ['wire-access.grant', 'Zugang für Azure-Linux-Agenten gewährt'],
  ['wire-access.hold', 'Änderungssperre gesetzt'],
  ['hold.end', 'Änderungssperre abgelaufen'],
  ['logs.request', 'Protokolle angefordert'],
  ['extension.remove', 'Deinstallation von probe gestartet'],
  ['unknown.action', 'andere Aktion'],
])('the axis names the action: %s', (action, words) => {
  expect(actWords(t, { action, target: 'probe', declared: null })).toBe(words);
});
