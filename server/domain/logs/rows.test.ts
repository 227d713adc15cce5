import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { mergePieces } from './merge-pieces.ts';
import type { Piece } from './piece.ts';
import { errorRow, layOut, type Row, rowsFrom, rowsIn } from './rows.ts';

const raw = new Map<string, Buffer>();

/** Returns a piece with this text at this position. */
function piece(start: number, text: string, path: string | null = null): Piece {
  const bytes = Buffer.from(text);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  raw.set(sha256, bytes);
  const lines = text.split('\n');
  const error = lines.findIndex((line) => line.includes('error'));
  return {
    ...{ start, until: start + bytes.length, sha256, path },
    ...{ lines: lines.length - 1, endsLine: text.endsWith('\n'), errorLine: error < 0 ? null : error },
  };
}
const read = async ({ sha256 }: { sha256: string }) => raw.get(sha256) ?? Buffer.alloc(0);
const make = async (bytes: Buffer, start: number) => piece(start, bytes.toString(), 'new');

/** Joins the texts of all pieces, with `…` for a gap. */
async function textOf(pieces: readonly Piece[]): Promise<string> {
  let text = '';
  let at = 0;
  for (const each of pieces) {
    text += (each.start > at ? '…' : '') + (await read(each)).toString();
    at = each.until;
  }
  return text;
}

describe('merging pieces', () => {
  type Sent = [start: number, text: string];
  test.each<[string, Sent[], number | null, string]>([
    [
      'in order',
      [
        [0, 'ab'],
        [2, 'cd'],
      ],
      null,
      'abcd',
    ],
    [
      'the last first',
      [
        [2, 'cd'],
        [0, 'ab'],
      ],
      4,
      'abcd',
    ],
    [
      'twice',
      [
        [0, 'ab'],
        [0, 'ab'],
        [2, 'cd'],
        [0, 'ab'],
      ],
      4,
      'abcd',
    ],
    [
      'with a gap',
      [
        [0, 'ab'],
        [4, 'ef'],
      ],
      null,
      'ab…ef',
    ],
    [
      'that overlap',
      [
        [0, 'abc'],
        [2, 'cde'],
        [4, 'efg'],
      ],
      null,
      'abcdefg',
    ],
    [
      'over a gap and its edges',
      [
        [0, 'ab'],
        [6, 'gh'],
        [1, 'bcdefg'],
      ],
      8,
      'abcdefgh',
    ],
    [
      'again as a whole',
      [
        [0, 'ab'],
        [2, 'cd'],
        [0, 'abcd'],
      ],
      4,
      'abcd',
    ],
    [
      'of a command that ran anew',
      [
        [0, 'ab'],
        [2, 'cd'],
        [0, 'xy'],
      ],
      null,
      'xy',
    ],
    [
      'of one that ran again and began with the same output',
      [
        [0, 'abcd'],
        [4, 'ef'],
        [0, 'abc'],
        [3, 'zz'],
      ],
      null,
      'abczz',
    ],
    ['beyond the end that the agent names', [[0, 'abcdef']], 4, 'abcd'],
  ])('%s', async (_, sent, total, text) => {
    let kept: Piece[] = [];
    for (const [start, part] of sent) kept = await mergePieces(kept, [piece(start, part, 'new')], null, { read, make });
    kept = await mergePieces(kept, [], total, { read, make });
    expect(await textOf(kept)).toBe(text);
    expect(kept.every((each, index) => index === 0 || each.start >= (kept[index - 1]?.until ?? 0))).toBe(true);
  });
});

async function rowsOf(pieces: Piece[], total: number | null, from = 0): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const some of rowsFrom(layOut(pieces, total), from, read)) rows.push(...some);
  return rows;
}
const line = (text: string): Row => ({ kind: 'line', text });

describe('rows', () => {
  const pieces = [piece(0, 'one\ntw'), piece(6, 'o\n'), piece(8, 'three'), piece(13, ' goes on\nerror: four')];
  const total = pieces.at(-1)?.until ?? 0;
  const all = ['one', 'two', 'three goes on', 'error: four'].map(line);

  test('lines cross pieces, and reading can start at any of them', async () => {
    expect(rowsIn(layOut(pieces, total))).toBe(4);
    for (const from of [0, 1, 2, 3, 4]) expect(await rowsOf(pieces, total, from)).toEqual(all.slice(from));
  });

  test('the first line that names an error is known without reading the output', () => {
    expect(errorRow(layOut(pieces, total))).toBe(3);
    expect(errorRow(layOut([piece(0, 'fine\n')], null))).toBeNull();
  });

  test('a missing part is a row, at the beginning, between and at the end', async () => {
    const parts = [piece(5, 'a\nb'), piece(20, 'error c\n')];
    const expected = [
      { kind: 'gap', bytes: 5 },
      line('a'),
      line('b'),
      { kind: 'gap', bytes: 12 },
      line('error c'),
      { kind: 'gap', bytes: 72 },
    ];
    expect(await rowsOf(parts, 100)).toEqual(expected);
    expect(rowsIn(layOut(parts, 100))).toBe(6);
    for (const from of [1, 2, 3, 4, 5]) expect(await rowsOf(parts, 100, from)).toEqual(expected.slice(from));
    expect(errorRow(layOut(parts, 100))).toBe(4);
  });

  test('an empty output has no row', () => {
    expect(rowsIn(layOut([], 0))).toBe(0);
    expect(rowsIn(layOut([], null))).toBe(0);
  });

  test('a character across two pieces is kept whole, and a long line shows how many bytes are missing', async () => {
    const umlaut = Buffer.from('ä');
    raw.set('first', umlaut.subarray(0, 1));
    raw.set('second', Buffer.concat([umlaut.subarray(1), Buffer.from('\n'), Buffer.alloc(5_000, 'x')]));
    const shape = { path: null, errorLine: null };
    const parts: Piece[] = [
      { ...shape, start: 0, until: 1, sha256: 'first', lines: 0, endsLine: false },
      { ...shape, start: 1, until: 5_003, sha256: 'second', lines: 1, endsLine: false },
    ];
    expect(await rowsOf(parts, null)).toEqual([line('ä'), { kind: 'line', text: 'x'.repeat(4_096), more: 904 }]);
  });

  test('terminal control sequences are removed', async () => {
    expect(await rowsOf([piece(0, '\u001b[1;31mred\u001b[0m\r\n\u001b]0;title\u0007a\u0000b\n')], null)).toEqual([
      line('red'),
      line('a\uFFFDb'),
    ]);
  });
});
