import { and, eq, inArray } from 'drizzle-orm';
import { commandOutputs } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { removeUnusedBytes } from '#server/domain/packages/index.ts';
import { dropOutputs } from './drop-old-outputs.ts';

/** Deletes the transcripts of a VM's executions, with their bytes. */
export async function dropTranscripts(
  services: Services,
  vmId: string,
  executionIds: readonly string[],
): Promise<void> {
  const freed = await services.db.transaction(async (tx) => {
    const found = await tx
      .select({ id: commandOutputs.id })
      .from(commandOutputs)
      .where(and(eq(commandOutputs.vmId, vmId), inArray(commandOutputs.executionId, [...executionIds])));
    const ids = found.map(({ id }) => id);
    return dropOutputs(tx, vmId, ids);
  });
  for (const sha256 of freed) await removeUnusedBytes(services, sha256);
}
