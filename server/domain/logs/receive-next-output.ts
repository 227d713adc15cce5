import { and, eq, max } from 'drizzle-orm';
import { commandOutputs } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import type { ReceiveOutputInput } from './input.ts';
import { receiveOutput } from './receive-output.ts';

/**
 * Stores an output as the next attempt, for an agent that does not count attempts. Throws the same errors as
 * `receiveOutput`.
 */
export async function receiveNextOutput(
  ctx: Context,
  run: Omit<ReceiveOutputInput, 'attempt' | 'range'>,
  body: Uint8Array,
): Promise<void> {
  const { vmId, extension, sequenceNumber, command, attempt } = commandOutputs;
  const [last] = await ctx.db
    .select({ attempt: max(attempt) })
    .from(commandOutputs)
    .where(
      and(
        ...[eq(vmId, run.vmId), eq(extension, run.extension)],
        ...[eq(sequenceNumber, run.sequence), eq(command, run.command)],
      ),
    );
  await receiveOutput(ctx, { ...run, attempt: (last?.attempt ?? 0) + 1, range: null }, wholeOf(body));
}

async function* wholeOf(body: Uint8Array): AsyncGenerator<Uint8Array> {
  yield body;
}
