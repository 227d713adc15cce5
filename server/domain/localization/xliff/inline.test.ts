import { describe, expect, test } from 'vitest';
import { codeOf, fitsXml, type InlinePart, messageIdOf, piecesOf, unitIdOf } from './inline.ts';

const code = (shown: string, id: string): InlinePart => ({ code: shown, id });

describe('the pieces of a text', () => {
  test.each<[text: string, pieces: InlinePart[]]>([
    ['', []],
    ['words only', [{ text: 'words only' }]],
    ['{0}', [code('{0}', 'p0')]],
    ['<12>', [code('<12>', 'p12')]],
    ['Disk {0} of {1}.', [{ text: 'Disk ' }, code('{0}', 'p0'), { text: ' of ' }, code('{1}', 'p1'), { text: '.' }]],
    ['{0}{0}', [code('{0}', 'p0'), code('{0}', 'p0.2')]],
    ['{0}<0>', [code('{0}', 'p0'), code('<0>', 'p0.2')]],
    ['{{0}}', [{ text: '{{0}}' }]],
    ['{{{0}}}', [{ text: '{{' }, code('{0}', 'p0'), { text: '}}' }]],
    ['{x} { 0 } {12345}', [{ text: '{x} { 0 } {12345}' }]],
    ['{0001}', [code('{0001}', 'p1')]],
    ['a\u0000b', [{ text: 'a' }, { char: 0 }, { text: 'b' }]],
    ['\u001b{0}\uffff', [{ char: 0x1b }, code('{0}', 'p0'), { char: 0xffff }]],
    ['tab\tand\nlines\r', [{ text: 'tab\tand\nlines\r' }]],
  ])('%j', (text, pieces) => {
    expect(piecesOf(text)).toEqual(pieces);
    const joined = pieces.map((piece) =>
      'text' in piece ? piece.text : 'code' in piece ? piece.code : String.fromCharCode(piece.char),
    );
    expect(joined.join('')).toBe(text);
  });
});

describe('the placeholder of an inline element', () => {
  test.each<[shown: string | undefined, id: string | undefined, placeholder: string | null]>([
    ['{3}', undefined, '{3}'],
    ['<3>', 'p9', '<3>'],
    [undefined, 'p3', '{3}'],
    [undefined, 'p3.2', '{3}'],
    ['%s', 'p3', '{3}'],
    ['%s', '1', null],
    ['{x}', undefined, null],
    [undefined, 'p', null],
    [undefined, 'p12345', null],
    [undefined, 'p3.', null],
    [undefined, undefined, null],
  ])('that shows %j under the id %j is %j', (shown, id, placeholder) => {
    expect(codeOf(shown, id)).toBe(placeholder);
  });
});

describe('a message id as the id of a unit', () => {
  test.each<[id: string, asName: boolean, asText: boolean]>([
    ['1215', true, true],
    ['disk.full-2:b_c', true, true],
    ['größe', true, true],
    ['two words', false, true],
    ['a/b', false, true],
    ['<a>', false, true],
    ['b64-YQ', false, false],
    ['a\u0000', false, false],
    ['\ufffe', false, false],
  ])('%j is kept as it is: %s in XLIFF 2.1, %s in 1.2', (id, asName, asText) => {
    for (const [isName, stays] of [
      [true, asName],
      [false, asText],
    ] as const) {
      const unit = unitIdOf(id, isName);
      expect(unit === id).toBe(stays);
      expect(fitsXml(unit)).toBe(true);
      expect(messageIdOf(unit)).toBe(id);
    }
  });

  test('different ids never become the same unit', () => {
    const ids = ['a b', 'a  b', 'YSBi', 'b64-YSBi', 'b64-b64-YSBi'];
    expect(new Set(ids.map((id) => unitIdOf(id, true))).size).toBe(ids.length);
  });
});
