import { describe, expect, test } from 'vitest';
import { partsOf, placeholdersOf } from '#protocol/template.ts';
import type { Messages } from './message.ts';
import { MessageMatcher } from './message-matcher.ts';
import { recoverStatus } from './recover.ts';

const matcherOf = (languages: Record<string, Messages>) => new MessageMatcher(new Map(Object.entries(languages)));
const english = (messages: Messages) => matcherOf({ en: messages });
const mark = ' ... [TRUNCATED]';

const mount = {
  '1215': 'Failed to establish connection to {0} as {1}',
  no_password: 'There is no password for {0}. Set it in the protected settings.',
  mounted: 'The share of {0} is mounted as {1}.',
  unmounted: 'The share is not mounted.',
};

/** Enough templates that the matcher finds candidates by their pieces instead of trying every template. */
const others = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`o${n}`, `Other ${n} words {0} stand here.`]));

describe.each([
  ['few templates', {}],
  ['many templates', others],
])('a text and the message it came from, of %s', (_, more) => {
  const english = (messages: Messages) => matcherOf({ en: { ...more, ...messages } });

  test.each<[text: string, id: string, params: string[]]>([
    ['The share is not mounted.', 'unmounted', []],
    ['The share is not mounted.\r\n', 'unmounted', []],
    ['The share of files.example.net is mounted as backup.', 'mounted', ['files.example.net', 'backup']],
    ['There is no password for . Set it in the protected settings.', 'no_password', ['']],
    ['Failed to establish connection to {0} as {1}', '1215', ['{0}', '{1}']],
    ['Failed to establish connection to ümläut.example as 管理者', '1215', ['ümläut.example', '管理者']],
  ])('%j', (text, id, params) => {
    expect(english(mount).match(text)).toEqual({ id, params });
  });

  test.each([
    '',
    '\n',
    'Something else happened.',
    'the share is not mounted.',
    'The share is not mounted',
    'The share of files.example.net is mounted',
    '__proto__',
    // `as` appears twice, so it is unclear where the first param ends.
    'Failed to establish connection to host as a as b',
  ])('%j is left unchanged', (text) => {
    expect(english(mount).match(text)).toBeNull();
  });

  test.each<[template: string, text: string, params: string[] | null]>([
    ['<0> of <1> rules', '3 of 7 rules', ['3', '7']],
    ['{1} before {0}', 'this before that', ['that', 'this']],
    ['{0} is {0}', 'red is red', ['red']],
    ['{0} is {0}', 'red is blue', null],
    ['{{{0}}} is literal', '{a} is literal', ['a']],
    ['all {{0}} of them', 'all {0} of them', []],
    ['{0}{1} together', 'ab together', null],
    ['{0}{1} together', ' together', ['', '']],
    // Other languages may use the param that the English template omits.
    ['only {1}', 'only this', null],
    // This template has no words: it would match too many texts, and there is nothing to translate.
    ['{0}: {1}', 'disk: full', null],
  ])('%j matches %j', (template, text, params) => {
    expect(english({ it: template }).match(text)).toEqual(params && { id: 'it', params });
  });

  test('two templates that match are ambiguous, even if one is more specific', () => {
    const two = english({ rule: 'Rule {0} holds.', thing: '{0} holds.', all: 'Everything holds.' });
    expect(two.match('Rule 7 holds.')).toBeNull();
    expect(two.match('Everything holds.')).toBeNull();
    expect(two.match('Seven holds.')).toEqual({ id: 'thing', params: ['Seven'] });
    expect(english({ a: 'Done.', b: 'Done.' }).match('Done.')).toBeNull();
    expect(english({ any: '{0}', done: 'Done.' }).match('Done.')).toEqual({ id: 'done', params: [] });
  });

  test('a text that matches no English template is searched in the other languages', () => {
    const all = matcherOf({
      de: { up: 'Läuft seit {0}.', ok: 'OK {0}.', one: 'Gleich {0}.', two: 'Zwei.' },
      en: { ...more, up: 'Up since {0}.', ok: 'OK {0}.' },
      sv: { up: 'Igång sedan {0}.', one: 'Zwei.', two: 'Gleich {0}.' },
    });
    expect(all.match('Igång sedan 12:00.')).toEqual({ id: 'up', params: ['12:00'] });
    expect(all.match('Läuft seit 12:00.')).toEqual({ id: 'up', params: ['12:00'] });
    expect(all.match('OK 7.')).toEqual({ id: 'ok', params: ['7'] });
    expect(all.match('Gleich 7.')).toBeNull();
    expect(matcherOf({}).match('Up since 12:00.')).toBeNull();
  });
});

describe('a truncated text', () => {
  test('is matched if it ends within the last param, which keeps the mark', () => {
    const recovered = english({ failed: 'The command failed: {0}', other: 'It is {0} o’clock.' });
    expect(recovered.match(`The command failed: first line\nsecond${mark}`)).toEqual({
      id: 'failed',
      params: [`first line\nsecond${mark}`],
    });
  });

  test.each<[what: string, messages: Messages]>([
    ['the end of the template is cut off too', { failed: 'The command failed: {0}. See the log.' }],
    ['another may have gone on', { failed: 'The command failed: {0}', log: 'The command failed: {0}. See the log.' }],
    [
      'a text without params may have begun so',
      { failed: 'The command {0}', long: `The command failed: x${'y'.repeat(999)}` },
    ],
  ])('is left unchanged if %s', (_, messages) => {
    expect(english(messages).match(`The command failed: x${mark}`)).toBeNull();
  });
});

describe('malicious texts', () => {
  const size = 16 * 1024;
  const a = (count: number) => 'a'.repeat(count);
  // A time in milliseconds that linear matching never reaches, and quadratic matching far exceeds.
  const bearable = 1_000;

  test.each<[what: string, messages: Messages, text: string]>([
    ['a literal that nearly fits everywhere', { x: `start {0}${a(4_000)}b${a(4_000)}{1} end` }, `start ${a(size)} end`],
    ['hundreds of placeholders', { x: `abc${'{0}a{1}'.repeat(500)}abc` }, `abc${a(size)}abc`],
    [
      'thousands of templates that all come into question',
      Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`m${n}`, `aaaaaaaaa{0}a{1}${n}`])),
      a(size),
    ],
    ['line ends without an end', { x: 'abc {0}' }, `abc${'\n'.repeat(size)}x`],
    ['what an expression would start over with', { x: '{0}: {1}: {2}: {3}: abc' }, ': '.repeat(size / 2)],
    ['a cut text', { x: `abc {0}${a(100)}b{1}` }, `abc ${a(size)}${mark}`],
  ])('%s', (_, messages, text) => {
    const matcher = english(messages);
    matcher.match('a first text, for which the templates are compiled');
    const begun = performance.now();
    expect(matcher.match(text)).toBeNull();
    expect(performance.now() - begun).toBeLessThan(bearable);
  });

  test('matching four times the text takes little more than four times as long', () => {
    const matcher = english({ x: `abc {0}${a(200)}b{1} def`, y: '{0}aaaaaaaa{1}aaaaaaab' });
    const time = (text: string): number => {
      const times = Array.from({ length: 9 }, () => {
        const begun = performance.now();
        matcher.match(text);
        return performance.now() - begun;
      });
      return Math.min(...times);
    };
    time(`abc ${a(50_000)} def`);
    // A search that starts over at every letter would take sixteen times as long.
    expect(time(`abc ${a(200_000)} def`) / time(`abc ${a(50_000)} def`)).toBeLessThan(13);
  });
});

test('matching inverts filling', () => {
  expect(partsOf('{{{0}}} <1>{0}')).toEqual({ literals: ['{', '} ', '', ''], indexes: [0, 1, 0] });
  expect(partsOf('')).toEqual({ literals: [''], indexes: [] });
  expect(placeholdersOf('{1} <0> {1} {{2}}')).toEqual([0, 1]);
});

test('matching is limited to a number of characters per report; the rest is kept as sent', () => {
  const recovered = (message: string) => ({ status: 'success', formattedMessage: { lang: 'en-US', message } });
  const substatus = [recovered('x'.repeat(16_000)), recovered('The share is not mounted.')].map((each) => ({
    ...each,
  }));
  const status = (times: number) => ({
    ...{ status: 'success', substatus: Array.from({ length: times }, () => structuredClone(substatus)).flat() },
  });
  const found = (times: number) => {
    const whole = status(times) as never as Parameters<typeof recoverStatus>[0];
    for (const below of whole.substatus) below.substatus = [];
    recoverStatus(whole, english(mount));
    return whole.substatus.filter(({ message }) => message?.recovered).length;
  };
  expect([found(2), found(10)]).toEqual([2, 4]);
});
