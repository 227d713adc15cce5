import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import { commandOutputs, outputPieces } from '#db/schema/index.ts';
import { commandNames } from '#protocol/index.ts';
import { count, time } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { PieceGone } from './piece.ts';
import { layOut, type Stretch } from './rows.ts';

type OutputRow = typeof commandOutputs.$inferSelect;
type CommandRow = {
  [Column in keyof OutputRow]: Column extends Subject ? NonNullable<OutputRow[Column]> : OutputRow[Column];
};
type Subject = 'extension' | 'sequenceNumber' | 'command' | 'attempt';

/** Whether a row is the output of a command. Otherwise it is the transcript of an execution. */
export const isOfCommand = (row: OutputRow): row is CommandRow => row.executionId === null;

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

export function outputOf(row: CommandRow): Output {
  const { vmId: _, executionId: __, startedAt, updatedAt, ...rest } = row;
  return { ...rest, startedAt: startedAt.toISOString(), updatedAt: updatedAt.toISOString() };
}

/** Loads the output of a command and its pieces. Throws 404 `output_unknown`. */
export async function loadOutput(
  ctx: Context,
  vmId: string,
  outputId: string,
): Promise<{ row: CommandRow; stretches: Stretch[] }> {
  const [row] = await ctx.db
    .select()
    .from(commandOutputs)
    .where(and(eq(commandOutputs.vmId, vmId), eq(commandOutputs.id, outputId)));
  if (row === undefined || !isOfCommand(row)) throw new DomainError('not_found', 'output_unknown');
  return { row, stretches: await stretchesOf(ctx, row) };
}

/** Loads the pieces of an execution's transcript; none if nothing has arrived yet. */
export async function loadTranscript(ctx: Context, vmId: string, executionId: string): Promise<Stretch[]> {
  const [row] = await ctx.db
    .select()
    .from(commandOutputs)
    .where(and(eq(commandOutputs.vmId, vmId), eq(commandOutputs.executionId, executionId)));
  return row === undefined ? [] : stretchesOf(ctx, row);
}

async function stretchesOf(ctx: Context, { vmId, id, totalBytes }: OutputRow): Promise<Stretch[]> {
  const pieces = await ctx.db
    .select()
    .from(outputPieces)
    .where(and(eq(outputPieces.vmId, vmId), eq(outputPieces.outputId, id)))
    .orderBy(outputPieces.start);
  return layOut(pieces, totalBytes);
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
