import { expect, test } from 'vitest';
import { logRowOf, visibleText } from './read-log.ts';

const shown = (text: string) => {
  const { kind, n, ms, level, text: words } = logRowOf(7, { kind: 'line', text });
  return [kind, n, ms, level, words];
};

test.each<[record: unknown, shown: unknown[]]>([
  [
    [0, 'begin', { run: 2, why: 'agent' }],
    ['begin', null, 0, null, 'agent'],
  ],
  [
    [1, 'call', 3, 'install', 'apply'],
    ['call', 3, 1, null, 'install.apply'],
  ],
  [
    [1, 'call', 3, null, 'setState'],
    ['call', 3, 1, null, 'setState'],
  ],
  [
    [2, 'out', 0, 'of the Body'],
    ['out', 0, 2, null, 'of the Body'],
  ],
  [
    [2, 'err', 3, 'bad', 1],
    ['err', 3, 2, null, 'bad'],
  ],
  [
    [2, 'err', 3, '\u001b[31mcannot bind'],
    ['err', 3, 2, 'error', '\u001b[31mcannot bind'],
  ],
  [
    [3, 'end', 3, { ms: 5, error: 'no such file' }],
    ['end', 3, 3, 'error', '{"ms":5,"error":"no such file"}'],
  ],
  [
    [3, 'same', 3],
    ['same', 3, 3, null, ''],
  ],
  [
    [3, 'end', 3, { ms: 5, exitCode: 1 }],
    ['end', 3, 3, null, '{"ms":5,"exitCode":1}'],
  ],
  [
    [4, 'log', { Level: 'warning', Body: 'careful' }],
    ['log', null, 4, 'warning', 'careful'],
  ],
  [
    [4, 'log', { Level: 'loud', Body: { a: 1 } }],
    ['log', null, 4, null, '{"a":1}'],
  ],
  [
    [4, 'log', null],
    ['log', null, 4, null, 'null'],
  ],
  [
    [5, 'note', 'rebooted'],
    ['note', null, 5, null, 'rebooted'],
  ],
  [
    [6, 'reboot'],
    ['reboot', null, 6, null, ''],
  ],
  [
    [7, 'done', 0],
    ['done', 0, 7, null, ''],
  ],
])('%j is shown', (record, row) => {
  expect(shown(JSON.stringify(record))).toEqual(row);
});

test.each(['{"a":1}', '[1]', '["1","out",1,"x"]', '[-1,"out",1,"x"]', '[1,"unknown",1]', 'no JSON', ''])(
  'case 24: %s is no record, and shown as text',
  (text) => {
    expect(shown(text)).toEqual(['text', null, null, null, text]);
  },
);

test('bytes that have not arrived are a row', () => {
  expect(logRowOf(0, { kind: 'gap', bytes: 12 })).toMatchObject({ kind: 'gap', text: '12' });
});

test.each([['"x"'], [{}], [-1], [1.5], ['9007199254740993']])('a call number %j is not shown', (n) => {
  expect(shown(JSON.stringify([1, 'out', n, 'x']))).toEqual(['out', null, 1, null, 'x']);
});

test.each([
  ['unfinished sequences', '\u001b[', ''],
  ['unfinished strings', '\u001b]', ''],
  ['unfinished parameters', '\u001b[1;1;1;1', '1;1;1;1'],
  ['unfinished links', '\u001b]8;;javascript:alert(1)', '8;;javascript:alert(1)'],
  ['colors', '\u001b[1;31mx', 'x'],
])('case 25: 1 MiB of %s becomes text without sequences, almost as fast as its row is parsed', (_, part, visible) => {
  const count = Math.ceil((1024 * 1024) / part.length);
  const line = part.repeat(count);
  const row = JSON.stringify([0, 'out', 1, line]);
  const fastest = (act: () => unknown) =>
    Math.min(
      ...Array.from({ length: 5 }, () => {
        const began = performance.now();
        act();
        return performance.now() - began;
      }),
    );
  expect(visibleText(line)).toBe(visible.repeat(count));
  expect(fastest(() => visibleText(line)) / fastest(() => JSON.parse(row))).toBeLessThan(50);
});
