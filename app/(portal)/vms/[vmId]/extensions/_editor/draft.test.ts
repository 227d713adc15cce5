import { expect, test } from 'vitest';
import { emptyDraft, goalOf, type ProtectedDraft, printed, unwrapSecrets, withText } from './draft.ts';
import { changeOfSecrets } from './secret-change.ts';

const replaced = (values: unknown): ProtectedDraft => ({ mode: 'replace', values, text: '', unread: false });

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

const halves = { publicSettings: { port: 80 }, protectedSettings: { key: 'secret-value' } };
const before = withText(emptyDraft('probe', '1.0.0.0'), '{"port":1}');

test.each<[string, unknown]>([
  ['handlerSettings', { handlerSettings: halves }],
  ['runtimeSettings', { runtimeSettings: [{ handlerSettings: halves }] }],
])('AZ-C1 settings pasted as %s fill both halves', (_, value) => {
  const text = JSON.stringify(value);
  const draft = withText(before, text);
  expect(draft).toMatchObject({ settings: { port: 80 }, text: printed({ port: 80 }), unread: null });
  expect(JSON.stringify(draft)).not.toContain('secret-value');
  const { secrets } = unwrapSecrets(text, true) ?? {};
  expect(secrets).toMatchObject({ mode: 'replace', values: { key: 'secret-value' } });
  const goal = goalOf('Acme.Lab.Probe', draft, secrets ?? { mode: 'keep' }, true);
  expect(goal.settings).toEqual(halves);
});

test.each<[string, unknown, string]>([
  ['encrypted', { ...halves, protectedSettingsCertThumbprint: 'AB' }, 'encrypted'],
  ['with an unknown property', { ...halves, other: 1 }, 'wrapper'],
])('settings pasted %s are not taken, and no secret becomes a public setting', (_, handlerSettings, unread) => {
  const text = JSON.stringify({ handlerSettings });
  const draft = withText(before, text);
  expect(draft).toMatchObject({ settings: { port: 1 }, text, unread });
  expect(unwrapSecrets(text, true)).toBeNull();
});

test.each([
  [{ publicSettings: { a: 1 } }, true, {}],
  [{ publicSettings: { a: 1 }, protectedSettings: null }, true, { secrets: { mode: 'remove' } }],
  [{ publicSettings: { a: 1 }, protectedSettings: null }, false, {}],
])('pasted %j, with protected settings before: %s', (handlerSettings, hadSecrets, expected) => {
  expect(unwrapSecrets(JSON.stringify({ handlerSettings }), hadSecrets)).toEqual(expected);
});

test.each([['{"handlerSettings": "a setting of this name"}'], ['{"handlerSettings": {}}'], ['{"port": 80}']])(
  '%s is left as typed',
  (text) => {
    expect(withText(before, text)).toMatchObject({ settings: JSON.parse(text), text, unread: null });
    expect(unwrapSecrets(text, true)).toBeNull();
  },
);

test('a draft that changes individual settings omits the protected settings of the declaration', () => {
  const change: ProtectedDraft = { mode: 'change', set: { password: 'new' }, remove: ['keytab'], open: ['password'] };
  const goal = goalOf('Acme.Lab.Probe', before, change, true);
  expect(goal.settings).toEqual({ publicSettings: { port: 1 } });
  expect(changeOfSecrets(change, true)).toBe('change');
  expect(changeOfSecrets({ ...change, set: {}, remove: [] }, true)).toBeNull();
});
