import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import { commandOutputs, outputPieces } from '#db/schema/index.ts';
import { commandNames } from '#protocol/index.ts';
import { count, time } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { PieceGone } from './piece.ts';
import { layOut, type Stretch } from './rows.ts';

export type OutputRow = typeof commandOutputs.$inferSelect;

/** The stored output of one run of a command. */
export const output = z.object({
  id: z.uuid(),
  extension: z.string(),
  sequenceNumber: count,
  command: z.enum(commandNames),
  attempt: count,
  /** Number of bytes that the command wrote, as reported by the agent; null while the command may still write. */
  totalBytes: count.nullable(),
  /** Number of these bytes that have arrived. */
  storedBytes: count,
  startedAt: time,
  updatedAt: time,
});
export type Output = z.infer<typeof output>;

export function outputOf(row: OutputRow): Output {
  const { vmId: _, startedAt, updatedAt, ...rest } = row;
  return { ...rest, startedAt: startedAt.toISOString(), updatedAt: updatedAt.toISOString() };
}

/** Loads an output and its pieces. Throws 404 `output_unknown`. */
export async function loadOutput(
  ctx: Context,
  vmId: string,
  outputId: string,
): Promise<{ row: OutputRow; stretches: Stretch[] }> {
  const [row] = await ctx.db
    .select()
    .from(commandOutputs)
    .where(and(eq(commandOutputs.vmId, vmId), eq(commandOutputs.id, outputId)));
  if (row === undefined) throw new DomainError('not_found', 'output_unknown');
  const pieces = await ctx.db
    .select()
    .from(outputPieces)
    .where(and(eq(outputPieces.vmId, vmId), eq(outputPieces.outputId, outputId)))
    .orderBy(outputPieces.start);
  return { row, stretches: layOut(pieces, row.totalBytes) };
}

/**
 * Reads an output. If a piece is missing, reads the output again, because pieces may be merged while the output is
 * read. Throws 503 `stored_bytes_damaged` if a piece is missing again.
 */
export async function readAgain<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof PieceGone)) throw error;
  }
  try {
    return await read();
  } catch (cause) {
    if (cause instanceof PieceGone) throw new DomainError('unavailable', 'stored_bytes_damaged', { cause });
    throw cause;
  }
}
