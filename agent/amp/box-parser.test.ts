import { describe, expect, test } from 'vitest';
import { type Box, boxLimits, boxOf, encodeBox } from './box.ts';
import { AmpFault, BoxParser } from './box-parser.ts';

/** Builds bytes from texts and numbers; a number becomes two bytes, as AMP writes lengths. */
function bytesOf(...parts: (string | number)[]): Buffer {
  return Buffer.concat(
    parts.map((part) =>
      typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from([part >> 8, part & 255]),
    ),
  );
}

/** Parses bytes in pieces of `size`. Returns each box as an object, and whether another one has begun. */
function parse(bytes: Buffer, size = bytes.length): { boxes: Record<string, string>[]; isWithinBox: boolean } {
  const parser = new BoxParser();
  const boxes: Box[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    parser.push(bytes.subarray(at, at + size));
    for (let box = parser.next(); box !== null; box = parser.next()) boxes.push(box);
  }
  const texts = boxes.map((box) => Object.fromEntries([...box].map(([key, value]) => [key, value.toString('latin1')])));
  return { boxes: texts, isWithinBox: parser.isWithinBox };
}

/** What Twisted 22.4 sends for `callRemote(get)`, and what answers it. */
const clientId = '0198c2f4-7b1e-7c3a-9d20-5a1f0b6e4c11';
const transcript = {
  ask: bytesOf(4, '_ask', 1, '1', 8, '_command', 3, 'get', 9, 'client_id', 36, clientId, 12, 'setting_name', 4, 'host')
    .toString('latin1')
    .concat(bytesOf(9, 'unit_name', 7, 'mysql/0', 0).toString('latin1')),
  answer: bytesOf(7, '_answer', 1, '1', 5, 'value', 10, '"10.0.0.4"', 0),
  error: bytesOf(6, '_error', 1, '2', 11, '_error_code', 8, 'KeyError', 18, '_error_description', 4, 'port', 0),
};

describe('EN-26 a box', () => {
  const expected = {
    ...{ _ask: '1', _command: 'get', client_id: clientId },
    ...{ setting_name: 'host', unit_name: 'mysql/0' },
  };

  test.each([1, 2, 3, 7, 1_000])('is parsed from pieces of %i bytes', (size) => {
    const bytes = Buffer.from(transcript.ask.repeat(3), 'latin1');
    expect(parse(bytes, size)).toEqual({ boxes: [expected, expected, expected], isWithinBox: false });
  });

  test('is written as Twisted writes it', () => {
    expect(encodeBox(boxOf(expected)).toString('latin1')).toBe(transcript.ask);
    expect(encodeBox(boxOf({ _answer: '1', value: '"10.0.0.4"' }))).toEqual(transcript.answer);
    const error = { _error: '2', _error_code: 'KeyError', _error_description: 'port', absent: undefined };
    expect(encodeBox(boxOf(error))).toEqual(transcript.error);
  });

  test('may have keys of 255 bytes, values of 65,535 bytes and empty values', () => {
    const [key, value] = ['k'.repeat(boxLimits.keyBytes), 'v'.repeat(boxLimits.valueBytes)];
    const bytes = encodeBox(boxOf({ [key]: value, empty: '' }));
    expect(parse(bytes, 1)).toEqual({ boxes: [{ [key]: value, empty: '' }], isWithinBox: false });
  });

  test('in which a key occurs twice has the last value', () => {
    expect(parse(bytesOf(1, 'a', 1, '1', 1, 'a', 1, '2', 0)).boxes).toEqual([{ a: '2' }]);
  });

  test('may have keys such as __proto__ and bytes that are not UTF-8', () => {
    const parser = new BoxParser();
    parser.push(bytesOf(9, '__proto__', 2, '\xff\xfe', 1, '\xe9', 0, 0));
    expect([...(parser.next() ?? [])]).toEqual([
      ['__proto__', Buffer.from([0xff, 0xfe])],
      ['é', Buffer.alloc(0)],
    ]);
  });
});

test.each([
  ['after its first byte', [0]],
  ['within a key', [0, 4, 97]],
  ['within a value', [0, 1, 97, 0, 2, 98]],
  ['between two keys', [0, 1, 97, 0, 0]],
])('a box that ends %s has begun', (_, bytes) => {
  expect(parse(Buffer.from(bytes))).toEqual({ boxes: [], isWithinBox: true });
});

describe('EN-26 bytes that are not AMP', () => {
  test.each<[string, Buffer]>([
    ['a key of 256 bytes', bytesOf(256)],
    ['the first byte of a key that is too long', Buffer.from('G')],
    ['an empty box', bytesOf(0)],
    ['an empty box after a box', bytesOf(1, 'a', 0, 0, 0)],
    ['33 keys', Buffer.concat(Array.from({ length: 33 }, (_, at) => bytesOf(2, String(at + 10), 0)))],
    ['33 times the same key', Buffer.concat(Array.from({ length: 33 }, () => bytesOf(1, 'a', 0)))],
    [
      'more than 256 KiB',
      Buffer.concat(['a', 'b', 'c', 'd', 'e'].map((key) => bytesOf(1, key, 65_535, 'v'.repeat(65_535)))),
    ],
  ])('%s is rejected', (_, bytes) => {
    expect(() => parse(bytes)).toThrow(AmpFault);
    expect(() => parse(bytes, 1)).toThrow(AmpFault);
  });

  test('boxes before them are parsed', () => {
    const parser = new BoxParser();
    parser.push(bytesOf(1, 'a', 1, '1', 0, 256));
    expect(parser.next()).toEqual(new Map([['a', Buffer.from('1')]]));
    expect(() => parser.next()).toThrow(AmpFault);
  });

  test.each([
    ['a value of more than 65,535 bytes', { value: 'v'.repeat(65_536) }],
    ['a key of more than 255 bytes', { ['k'.repeat(256)]: '' }],
    ['an empty key', { '': '' }],
  ])('%s is not sent', (_, values) => {
    expect(() => encodeBox(boxOf(values))).toThrow(/bytes|length/);
  });
});

test('large values that arrive byte by byte are parsed', () => {
  const bytes = encodeBox(boxOf({ value: 'v'.repeat(65_535) }));
  expect(parse(Buffer.concat([bytes, bytes]), 1).boxes).toHaveLength(2);
});
