import { expect, test } from 'vitest';
import { isServiceName } from '#protocol/unit-names.ts';
import type { ShownPair } from '../endpoint-pairs.ts';
import { chosenPairs, withChoice } from './deploy-relations.ts';
import { nameFor } from './deploy-values.ts';
import { isChanged, isReadable, protectedOf, settingsDraft, withFormSettings, withJsonText } from './settings-draft.ts';

test.each([
  ['Acme.Lab.blog', [], 'blog'],
  ['Acme.Lab.BlogEngine', [], 'blogengine'],
  ['Acme.Lab.my_blog-', [], 'my-blog'],
  ['Acme.Lab.blog', ['blog'], 'blog-b'],
  ['Acme.Lab.blog', ['blog', 'blog-b'], 'blog-c'],
])('the name for a service of %s beside %j is %s', (formula, taken, expected) => {
  const name = nameFor(
    formula,
    taken.map((each) => ({ name: each })),
  );
  expect(name).toBe(expected);
  expect(isServiceName(name)).toBe(true);
});

const pair = (requires: string, provides: string, optional = false): ShownPair => ({
  ...{ interface: 'i', optional },
  requires: { service: requires, name: 'in' },
  provides: { service: provides, name: 'out' },
});

test('a new service is related to what it needs if there is one way, and the reader can choose otherwise', () => {
  const needed = pair('new', 'store');
  const others = [pair('new', 'cache', true), pair('blog', 'new')].map((one, index) => {
    return { ...one, requires: { ...one.requires, name: `other-${index}` } };
  });
  const pairs = [needed, ...others];
  expect(chosenPairs(pairs, [], 'new')).toEqual([needed]);
  const without = withChoice([], { pair: needed, pairs, name: 'new', isRelated: false });
  expect(chosenPairs(pairs, without, 'new')).toEqual([]);
  const back = withChoice(without, { pair: needed, pairs, name: 'new', isRelated: true });
  expect(back).toEqual([]);
  expect(chosenPairs([needed, pair('new', 'second')], [], 'new')).toEqual([]);
});

test('a choice stays while the reader types another name', () => {
  const changed = withChoice([], {
    pair: pair('n', 'store'),
    pairs: [pair('n', 'store')],
    name: 'n',
    isRelated: false,
  });
  expect(chosenPairs([pair('news', 'store')], changed, 'news')).toEqual([]);
});

test('a draft is what the form or the JSON says, and invalid JSON keeps the last valid settings', () => {
  const start = settingsDraft({ title: 'News' });
  const typed = withJsonText(start, '{"title": ');
  expect([typed.settings, isReadable(typed)]).toEqual([{ title: 'News' }, false]);
  expect(withJsonText(start, '{"port": 1}').settings).toEqual({ port: 1 });
  const formed = withFormSettings(typed, { title: 'Old' });
  expect([formed.text, isReadable(formed)]).toEqual(['{\n  "title": "Old"\n}', true]);
});

test('a draft changes something if a value or the protected settings differ, not if the order does', () => {
  const before = { a: 1, b: 2 };
  const start = settingsDraft(before);
  expect(isChanged(withFormSettings(start, { b: 2, a: 1 }), before)).toBe(false);
  expect(isChanged(withFormSettings(start, { a: 1 }), before)).toBe(true);
  expect(isChanged({ ...start, secrets: { mode: 'remove' } }, before)).toBe(true);
});

test('protected settings are sent as a whole, as null, or not at all', () => {
  const replace = (values: unknown) => ({ mode: 'replace' as const, values, text: '', unread: false });
  expect(protectedOf({ secrets: { mode: 'keep' } })).toEqual({});
  expect(protectedOf({ secrets: replace({}) })).toEqual({});
  expect(protectedOf({ secrets: { mode: 'remove' } })).toEqual({ protectedSettings: null });
  expect(protectedOf({ secrets: replace({ key: 'k' }) })).toEqual({ protectedSettings: { key: 'k' } });
});
