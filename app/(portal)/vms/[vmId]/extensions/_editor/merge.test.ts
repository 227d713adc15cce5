import { describe, expect, test } from 'vitest';
import type { SettingsObject } from '#app/_ui/schema-form/form.tsx';
import { type ExtensionDraft, emptyDraft, printed } from './draft.ts';
import { type Choices, differencesOf, merged, openConflicts } from './merge.ts';

const draftWith = (settings: SettingsObject, change: Partial<ExtensionDraft> = {}): ExtensionDraft => ({
  ...emptyDraft('probe', '1.0.0.0'),
  settings,
  text: printed(settings),
  ...change,
});

describe('settings are merged by key', () => {
  test.each<{
    what: string;
    base: SettingsObject;
    theirs: SettingsObject;
    mine: SettingsObject;
    told: string[];
    result: SettingsObject;
  }>([
    {
      what: 'different keys: both are kept',
      base: { a: 1, b: 1 },
      theirs: { a: 2, b: 1 },
      mine: { a: 1, b: 2 },
      told: ['/a theirs', '/b mine'],
      result: { a: 2, b: 2 },
    },
    {
      what: 'different keys of one object',
      base: { deep: { a: 1, b: 1 } },
      theirs: { deep: { a: 2, b: 1 } },
      mine: { deep: { a: 1, b: 1, c: 3 } },
      told: ['/deep/a theirs', '/deep/c mine'],
      result: { deep: { a: 2, b: 1, c: 3 } },
    },
    {
      what: 'the same key with the same value: no difference',
      base: { a: 1 },
      theirs: { a: 2 },
      mine: { a: 2 },
      told: [],
      result: { a: 2 },
    },
    {
      what: 'the same key, differently: open, theirs meanwhile',
      base: { a: 1 },
      theirs: { a: 2 },
      mine: { a: 3 },
      told: ['/a both'],
      result: { a: 2 },
    },
    {
      what: 'they removed what I changed',
      base: { a: { x: 1 }, b: 1 },
      theirs: { b: 1 },
      mine: { a: { x: 2 }, b: 1 },
      told: ['/a/x both'],
      result: { b: 1 },
    },
    {
      what: 'I removed an object, they another key',
      base: { a: { x: 1 }, b: 1 },
      theirs: { a: { x: 1 } },
      mine: { b: 1 },
      told: ['/a/x mine', '/b theirs'],
      result: {},
    },
    {
      what: 'I removed one key of an object that they added to',
      base: { a: { x: 1 } },
      theirs: { a: { x: 1, y: 2 } },
      mine: {},
      told: ['/a/x mine', '/a/y theirs'],
      result: { a: { y: 2 } },
    },
    {
      what: 'an object became a text: taken whole',
      base: { a: { x: 1 } },
      theirs: { a: 'x' },
      mine: { a: { x: 2 } },
      told: ['/a both'],
      result: { a: 'x' },
    },
    {
      what: 'lists are taken whole',
      base: { list: [1, 2] },
      theirs: { list: [1, 2, 3] },
      mine: { list: [0, 1, 2] },
      told: ['/list both'],
      result: { list: [1, 2, 3] },
    },
    {
      what: 'names with slashes, and names of every object',
      base: {},
      theirs: { 'a/b~c': 1 },
      mine: JSON.parse('{"__proto__": {"x": 1}, "constructor": 2}'),
      told: ['/a~1b~0c theirs', '/__proto__/x mine', '/constructor mine'],
      result: JSON.parse('{"a/b~c": 1, "__proto__": {"x": 1}, "constructor": 2}'),
    },
  ])('$what', ({ base, theirs, mine, told, result }) => {
    const differences = differencesOf(draftWith(base), draftWith(theirs), draftWith(mine), null);
    expect(differences.map(({ change, by }) => `${change.at} ${by}`)).toEqual(told);
    const draft = merged(draftWith(theirs), draftWith(mine), differences, {});
    expect(draft.text).toBe(printed(result));
  });
});

describe('fields other than settings', () => {
  const base = draftWith({});
  const theirs = draftWith({}, { version: '1.1.0.0', dependsOn: ['a'] });
  const mine = draftWith({}, { state: 'disabled', dependsOn: ['b'], timeouts: { ...base.timeouts, enable: '9' } });
  const differences = differencesOf(base, theirs, mine, null);

  test('each field is merged separately', () => {
    expect(differences.map(({ change, by }) => `${change.kind} ${by}`)).toEqual([
      'version theirs',
      'state mine',
      'dependsOn both',
      'timeout mine',
    ]);
  });

  test.each<[string, Choices, string[]]>([
    ['open: theirs', {}, ['a']],
    ['mine is chosen', { dependsOn: 'mine' }, ['b']],
    ['theirs is chosen', { dependsOn: 'theirs' }, ['a']],
  ])('%s', (_, choices, dependsOn) => {
    expect(openConflicts(differences, choices)).toHaveLength(choices.dependsOn ? 0 : 1);
    expect(merged(theirs, mine, differences, choices)).toMatchObject({
      version: '1.1.0.0',
      state: 'disabled',
      dependsOn,
      timeouts: { enable: '9', install: '300' },
    });
  });

  test('a change by one side only can still be replaced by the other side’s value', () => {
    const choices = { version: 'mine', state: 'theirs' } as const;
    expect(merged(theirs, mine, differences, choices)).toMatchObject({ version: '1.0.0.0', state: 'enabled' });
  });
});
