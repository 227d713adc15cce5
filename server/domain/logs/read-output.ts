import { setImmediate } from 'node:timers/promises';
import type { z } from 'zod';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import {
  type GetOutputInput,
  getOutputInput,
  type ReadOutputInput,
  readOutputInput,
  type SearchOutputInput,
  searchOutputInput,
} from './input.ts';
import { loadOutput, type Output, outputOf, readAgain } from './output.ts';
import { bytesOf } from './piece.ts';
import { errorRow, type Row, rowsFrom, rowsIn, type StoredPiece, type Stretch } from './rows.ts';

/** A line of an output, and the number of its row. */
export interface FoundLine {
  row: number;
  text: string;
}

/** An output with its number of rows and the first line that names an error. */
export interface OutputDetails extends Output {
  rows: number;
  firstError: FoundLine | null;
}

/** A response ends once its rows exceed this number of characters; the next request continues after them. */
const maxCharacters = 256 * 1024;
const maxFound = 100;

const reading =
  ({ blobs }: Context) =>
  (piece: StoredPiece) =>
    bytesOf(blobs, { ...piece, path: null });

/** Returns an output without its text, for operators. Throws 404 `output_unknown`. */
export async function getOutput(ctx: Context, input: GetOutputInput): Promise<OutputDetails> {
  allow(ctx.actor, 'operator');
  const { vmId, outputId } = parse(getOutputInput, input);
  return readAgain(async () => {
    const { row, stretches } = await loadOutput(ctx, vmId, outputId);
    return { ...outputOf(row), rows: rowsIn(stretches), firstError: await firstError(ctx, stretches) };
  });
}

async function firstError(ctx: Context, stretches: Stretch[]): Promise<FoundLine | null> {
  const row = errorRow(stretches);
  if (row === null) return null;
  for await (const [first] of rowsFrom(stretches, row, reading(ctx))) {
    return first?.kind === 'line' ? { row, text: first.text.trim() } : null;
  }
  return null;
}

/**
 * Returns rows of an output, for operators. Returns fewer than requested if the rows are long. Throws 404
 * `output_unknown`.
 */
export async function readOutput(ctx: Context, input: ReadOutputInput): Promise<{ row: number; rows: Row[] }> {
  allow(ctx.actor, 'operator');
  const given = parse(readOutputInput, input);
  return readAgain(() => rowsOf(ctx, given));
}

async function rowsOf(
  ctx: Context,
  { vmId, outputId, row, count }: z.output<typeof readOutputInput>,
): Promise<{ row: number; rows: Row[] }> {
  const { stretches } = await loadOutput(ctx, vmId, outputId);
  return { row, rows: await rowsForDisplay(ctx, stretches, { row, count }) };
}

/** Returns rows for display. Returns fewer than requested if the rows are long. */
export async function rowsForDisplay(
  ctx: Context,
  stretches: readonly Stretch[],
  { row, count }: { row: number; count: number },
): Promise<Row[]> {
  const rows: Row[] = [];
  let characters = 0;
  for await (const some of rowsFrom(stretches, row, reading(ctx))) {
    for (const each of some) {
      rows.push(each);
      characters += each.kind === 'line' ? each.text.length : 0;
      if (rows.length === count || characters > maxCharacters) return rows;
    }
  }
  return rows;
}

/**
 * Returns at most a hundred lines that contain a text, ignoring case, starting at a given row. `next` is the row from
 * which to continue; null at the end. For operators. Throws 404 `output_unknown`.
 */
export async function searchOutput(
  ctx: Context,
  input: SearchOutputInput,
): Promise<{ found: FoundLine[]; next: number | null }> {
  allow(ctx.actor, 'operator');
  const given = parse(searchOutputInput, input);
  return readAgain(() => linesWith(ctx, given));
}

async function linesWith(
  ctx: Context,
  { vmId, outputId, q, row: from }: z.output<typeof searchOutputInput>,
): Promise<{ found: FoundLine[]; next: number | null }> {
  const { stretches } = await loadOutput(ctx, vmId, outputId);
  const wanted = q.toLowerCase();
  const found: FoundLine[] = [];
  let row = from;
  for await (const some of rowsFrom(stretches, from, reading(ctx))) {
    // Yields to other requests, because an output can have millions of lines.
    await setImmediate();
    for (const each of some) {
      if (found.length === maxFound) return { found, next: row };
      if (each.kind === 'line' && each.text.toLowerCase().includes(wanted)) found.push({ row, text: each.text });
      row += 1;
    }
  }
  return { found, next: null };
}
