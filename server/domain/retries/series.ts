import { and, eq, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import type { Database, Transaction } from '#db/client.ts';
import { extensions, retrySeries } from '#db/schema/index.ts';
import { count, time } from '#server/domain/answers.ts';
import { contentsOf, type ExtensionRow } from '#server/domain/goal-states/index.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';
import { sha256Hex } from '#server/platform/keys.ts';

export type RetrySeriesRow = typeof retrySeries.$inferSelect;

/** The repeated retries of an extension, as responses show them. */
export const series = z
  .object({
    everyMinutes: count,
    times: count.describe('Maximum number of retries after the first retry.'),
    done: count,
    nextAt: time,
    startedAt: time,
    startedBy: z.string(),
  })
  .meta({ id: 'RetrySeries' });
export type RetrySeries = z.infer<typeof series>;

/** Returns the digest of a declaration, without its sequence number. */
export function digestOf(row: ExtensionRow): string {
  const { sequenceNumber: _, ...declared } = contentsOf(row);
  return sha256Hex(canonicalJson(declared));
}

/** Whether the extension still has the declaration that the series published last. */
export const isCurrent = (row: RetrySeriesRow, extension: ExtensionRow): boolean =>
  row.sequenceNumber === extension.sequenceNumber && row.digest === digestOf(extension);

/** Returns the time of the next retry. */
export const nextRetry = (now: Date, minutes: number): Date => new Date(now.getTime() + minutes * 60_000);

/** The condition for the series of one extension. */
export const ofExtension = (vmId: string, name: string): SQL | undefined =>
  and(eq(retrySeries.vmId, vmId), eq(retrySeries.name, name));

/** Lists the series of a VM's extensions by name, without series that a later change has ended. */
export async function listSeries(tx: Database | Transaction, vmId: string): Promise<Map<string, RetrySeries>> {
  const rows = await tx
    .select({ row: retrySeries, extension: extensions })
    .from(retrySeries)
    .innerJoin(extensions, and(eq(extensions.vmId, retrySeries.vmId), eq(extensions.name, retrySeries.name)))
    .where(eq(retrySeries.vmId, vmId));
  const current = rows.filter(({ row, extension }) => isCurrent(row, extension));
  return new Map(current.map(({ row }) => [row.name, shown(row)]));
}

function shown({ everyMinutes, times, done, nextAt, startedAt, startedBy }: RetrySeriesRow): RetrySeries {
  return {
    everyMinutes,
    times,
    done,
    nextAt: nextAt.toISOString(),
    startedAt: startedAt.toISOString(),
    startedBy,
  };
}

/** Deletes the series of an extension. Returns false if there was none. */
export async function dropSeries(tx: Transaction, vmId: string, name: string): Promise<boolean> {
  const ended = await tx.delete(retrySeries).where(ofExtension(vmId, name)).returning({ name: retrySeries.name });
  return ended.length > 0;
}

/** Deletes all series of a deleted VM. */
export async function dropRetries(tx: Transaction, vmId: string): Promise<void> {
  await tx.delete(retrySeries).where(eq(retrySeries.vmId, vmId));
}
