import { expect, test } from 'vitest';
import { cut, pieceBytes } from './piece.ts';

async function* single(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at++) yield bytes.subarray(at, at + 1);
}

async function* together(...chunks: Buffer[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

async function all(pieces: AsyncIterable<Buffer>): Promise<Buffer[]> {
  const found: Buffer[] = [];
  for await (const piece of pieces) found.push(piece);
  return found;
}

const bytes = Buffer.from(Array.from({ length: pieceBytes + 5 }, (_, index) => index % 251));

test('splits a body that arrives byte by byte without copying earlier bytes each time', async () => {
  const began = performance.now();
  const pieces = await all(cut(single(bytes)));
  expect(performance.now() - began).toBeLessThan(5_000);
  expect(pieces.map(({ length }) => length)).toEqual([pieceBytes, 5]);
  expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
});

test('splits a body that arrives in one chunk, or in none', async () => {
  const pieces = await all(cut(together(bytes, Buffer.alloc(0), bytes, bytes.subarray(0, pieceBytes - 10))));
  expect(pieces.map(({ length }) => length)).toEqual([pieceBytes, pieceBytes, pieceBytes]);
  expect(Buffer.concat(pieces).equals(Buffer.concat([bytes, bytes, bytes.subarray(0, pieceBytes - 10)]))).toBe(true);
  expect(await all(cut(together()))).toEqual([]);
});
