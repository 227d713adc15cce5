import { and, eq, inArray, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { commandOutputs, outputPieces } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';

/** Maximum number of outputs per VM, regardless of their size. */
const maxOutputs = 2_000;

/**
 * Deletes a VM's least recently written outputs until the rest is within the VM's limits, but never the output being
 * written. Returns the blobs that may now be unused.
 */
export async function dropOldOutputs(tx: Transaction, ctx: Context, vmId: string, newest: string): Promise<string[]> {
  const order = sql`order by id = ${newest} desc, updated_at desc, id desc`;
  const { rows } = await tx.execute<{ id: string }>(sql`
    select id from (
      select id, sum(stored_bytes) over (${order}) as bytes, row_number() over (${order}) as place
        from command_outputs where vm_id = ${vmId}
    ) o where id <> ${newest} and (bytes > ${ctx.config.limits.logs.vmBytes} or place > ${maxOutputs})`);
  return dropOutputs(
    tx,
    vmId,
    rows.map(({ id }) => id),
  );
}

/**
 * Locks a VM's outputs for the transaction. A merge into one output may delete outputs that another transaction merges,
 * so without the lock two transactions could deadlock.
 */
export async function lockOutputs(tx: Transaction, vmId: string): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${vmId}, 1))`);
}

/** Deletes outputs of a VM. Returns the blobs that may now be unused. */
export async function dropOutputs(tx: Transaction, vmId: string, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  await lockOutputs(tx, vmId);
  const dropped = await tx
    .delete(outputPieces)
    .where(and(eq(outputPieces.vmId, vmId), inArray(outputPieces.outputId, [...ids])))
    .returning({ sha256: outputPieces.sha256 });
  await tx.delete(commandOutputs).where(and(eq(commandOutputs.vmId, vmId), inArray(commandOutputs.id, [...ids])));
  return [...new Set(dropped.map(({ sha256 }) => sha256))];
}
