import { expect, test } from 'vitest';
import { layOut, type StoredPiece } from './rows.ts';
import { linesToSearch } from './search-rows.ts';

const given = new Map<string, Buffer>();

/** Returns the pieces of a text that is cut at these positions. */
function piecesOf(text: string, cuts: readonly number[], offset = 0): StoredPiece[] {
  const bounds = [0, ...cuts, text.length];
  return bounds.slice(1).map((until, index) => {
    const part = text.slice(bounds[index], until);
    const sha256 = `${offset}-${index}-${part}`;
    given.set(sha256, Buffer.from(part));
    const start = offset + (bounds[index] ?? 0);
    const lines = part.split('\n').length - 1;
    return { start, until: offset + until, sha256, lines, endsLine: part.endsWith('\n'), errorLine: null };
  });
}
const read = async ({ sha256 }: StoredPiece) => given.get(sha256) ?? Buffer.alloc(0);

async function linesOf(pieces: StoredPiece[], from: number, part = '', lineBytes = 100): Promise<[number, string][]> {
  const found: [number, string][] = [];
  const maybe = (block: Buffer) => block.includes(part);
  for await (const lines of linesToSearch(layOut(pieces, null), read, { from, lineBytes, maybe })) {
    found.push(...lines.map(({ row, text }) => [row, text] as [number, string]));
  }
  return found;
}

const text = 'one\ntwo\n\nfour\nfive';

test('every line has its row, wherever the output was cut', async () => {
  const expected = text.split('\n').map((line, row) => [row, line]);
  for (let first = 0; first < text.length; first += 1) {
    for (const cuts of [[first], [first, text.length - 1], [first, Math.min(first + 1, text.length)]]) {
      expect(await linesOf(piecesOf(text, cuts), 0), `cut at ${cuts}`).toEqual(expected);
      expect(await linesOf(piecesOf(text, cuts), 3), `cut at ${cuts}, from row 3`).toEqual(expected.slice(3));
    }
  }
});

test('blocks without a match are skipped, and a line over two pieces is found', async () => {
  const pieces = piecesOf('one\ntwo\nthree\nfour\n', [6, 10]);
  const found = await linesOf(pieces, 0, 'two');
  expect(found).toContainEqual([1, 'two']);
  expect(found.map(([row]) => row)).not.toContain(3);
});

test('rows after missing bytes keep their numbers, and a long line is cut', async () => {
  const pieces = [...piecesOf('one\n', []), ...piecesOf('abcdefgh\nlast\n', [], 10)];
  expect(await linesOf(pieces, 0, '', 4)).toEqual([
    [0, 'one'],
    [2, 'abcd'],
    [3, 'last'],
  ]);
});
