import { expect, test } from 'vitest';
import { parityFaults } from './translation-parity.ts';

const english = {
  'vms.json': { title: 'VMs', greet: 'Hello {{name}}', found_one: 'One VM', found_other: '{{count}} VMs' },
};

test('a complete translation has no fault', () => {
  const german = {
    greet: 'Hallo {{ name }}',
    title: 'VMs',
    found_one: 'Eine VM',
    found_other: '{{count, number}} VMs',
  };
  expect(parityFaults('de', english, { 'vms.json': german })).toEqual([]);
  expect(parityFaults('en', english, english)).toEqual([]);
});

test('plural forms follow the rules of the language', () => {
  const japanese = { greet: '{{name}} さん', title: 'VM', found_other: '{{count}} 台' };
  expect(parityFaults('ja', english, { 'vms.json': japanese })).toEqual([]);
  const polish = { greet: '{{name}}', title: 'VM', found_one: '1', found_other: '{{count}}' };
  expect(parityFaults('pl', english, { 'vms.json': polish })).toEqual([
    'pl/vms.json: found_few: missing plural form',
    'pl/vms.json: found_many: missing plural form',
  ]);
});

test.each([
  ['a file', {}, 'de/vms.json: missing'],
  ['a key', { greet: undefined }, 'de/vms.json: greet: missing'],
  ['a placeholder', { greet: 'Hallo' }, 'de/vms.json: greet: lacks {{name}}'],
  ['an unknown placeholder', { greet: '{{name}} {{nmae}}' }, 'de/vms.json: greet: {{nmae}} is not in English'],
  ['an empty text', { title: ' ' }, 'de/vms.json: title: not a text, or empty'],
  ['a key too many', { extra: 'x' }, 'de/vms.json: extra: English has no such key'],
  ['a plural form', { found_one: undefined }, 'de/vms.json: found_one: missing plural form'],
  ['another tag', { title: '<b>VMs</b>' }, 'de/vms.json: title: other tags than in English'],
])('a differing %s is reported', (_, change, fault) => {
  const german: Record<string, unknown> = { ...english['vms.json'], ...change };
  for (const [key, text] of Object.entries(german)) if (text === undefined) delete german[key];
  const files = Object.keys(change).length === 0 ? {} : { 'vms.json': german };
  expect(parityFaults('de', english, files as never)).toEqual([fault]);
});

test('an extra file is reported', () => {
  expect(parityFaults('de', english, { ...english, 'x.json': {} })).toEqual(['de/x.json: English has no such file']);
});
