import { describe, expect, test } from 'vitest';
import { isShownAt, runRowOf } from './run-row.ts';

const rowOf = (text: string) => runRowOf(4, { kind: 'line', text });

describe('a line of a run’s output', () => {
  test.each([
    ['+0.014 INFO reading db', { ms: 14, level: 'info', text: 'reading db' }],
    ['+1.5 ERROR no', { ms: 1500, level: 'error', text: 'no' }],
    ['+12.000 WARNING  two spaces', { ms: 12_000, level: 'warning', text: ' two spaces' }],
    ['+0.000 CRITICAL ', { ms: 0, level: 'fatal', text: '' }],
    ['+0.001 DEBUG', { ms: 1, level: 'debug', text: '' }],
  ])('EN-23 %j has its time and level', (text, expected) => {
    expect(rowOf(text)).toEqual({ row: { row: 4, n: null, kind: 'out', ...expected }, message: null });
  });

  test.each(['', 'INFO no time', '+x.1 INFO no number', '+1.1 NOTICE another level', '+0.1', '\u0000'])(
    '%j of another form is shown as it is',
    (text) => {
      expect(rowOf(text).row).toEqual({ row: 4, ms: null, n: null, level: null, kind: 'text', text });
    },
  );

  test('a gap has its size', () => {
    expect(runRowOf(1, { kind: 'gap', bytes: 7 }).row).toMatchObject({ row: 1, kind: 'gap', text: '7' });
  });

  test.each([
    [
      '{"id":"no_database","params":["mysql/0"]} no database',
      { id: 'no_database', params: ['mysql/0'] },
      'no database',
    ],
    ['{"id":"ready","params":[]}', { id: 'ready', params: [] }, 'ready'],
    ['{"id":"a","params":["\\"}]","x"]} text', { id: 'a', params: ['"}]', 'x'] }, 'text'],
  ])('%j refers to a message', (text, message, shownText) => {
    expect(rowOf(`+0.1 ERROR ${text}`)).toMatchObject({ message, row: { text: shownText, level: 'error' } });
  });

  test.each([
    '{"id":"a"} text',
    '{"id":1,"params":[]}',
    '{"a":"id","params":[]} x',
    '{"id":"\\x","params":[]} bad escape',
  ])('%j is text, not a message', (text) => {
    expect(rowOf(`+0.1 INFO ${text}`)).toMatchObject({ message: null, row: { text } });
  });
});

test.each([
  ['+0.1 DEBUG x', ['messages']],
  ['+0.1 INFO x', ['messages']],
  ['+0.1 WARNING x', ['messages', 'warning']],
  ['+0.1 ERROR x', ['messages', 'warning', 'error']],
  ['+0.1 CRITICAL x', ['messages', 'warning', 'error']],
  ['without a level', []],
])('%j is shown at %j', (text, expected) => {
  const { row } = rowOf(text);
  expect((['messages', 'warning', 'error'] as const).filter((level) => isShownAt(row, level))).toEqual(expected);
});
