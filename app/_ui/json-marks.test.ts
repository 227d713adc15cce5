import { json } from '@codemirror/lang-json';
import { EditorState } from '@codemirror/state';
import { expect, test } from 'vitest';
import { lineOf } from './json-marks.ts';

const stateOf = (doc: string) => EditorState.create({ doc, extensions: [json()] });

test('a mark is at the line of its setting, or of the nearest existing parent', () => {
  const state = stateOf('{\n  "a": {\n    "b": 1\n  }\n}');
  expect(lineOf(state, { pointer: '/a/b' }).number).toBe(3);
  expect(lineOf(state, { pointer: '/a/c' }).number).toBe(2);
  expect(lineOf(state, { pointer: '/a/b', line: 1 }).number, 'the line is about another text').toBe(3);
});

test('a mark of malformed text is at the line that it names', () => {
  const state = stateOf('{"a": 1,\n  "b": ');
  expect(lineOf(state, { pointer: '', line: 2 }).number).toBe(2);
  expect(lineOf(state, { pointer: '', line: 9 }).number, 'the text has become shorter since the check').toBe(2);
  expect(lineOf(state, { pointer: '' }).number).toBe(1);
});
