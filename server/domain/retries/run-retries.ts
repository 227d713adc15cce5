import { and, asc, eq, lte } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { extensionHealth, extensions, retrySeries } from '#db/schema/index.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { type ExtensionRow, type Head, lockHead, repeatExtension } from '#server/domain/goal-states/index.ts';
import { readHold } from '#server/domain/holds/index.ts';
import { needsAttention } from '#server/domain/verdicts/index.ts';
import { digestOf, dropSeries, isCurrent, nextRetry, ofExtension, type RetrySeriesRow } from './series.ts';

/** Maximum number of series that one call handles. */
const seriesPerRun = 500;

/** Minutes after which an extension that cannot be retried now is checked again. */
const postponedMinutes = 1;

/** A series with the extension that it retries, and the health that lists show. */
interface Due {
  row: RetrySeriesRow;
  extension: ExtensionRow | null;
  health: Pick<typeof extensionHealth.$inferSelect, 'health' | 'cause'> | null;
}

/**
 * Runs the retries that are due, earliest first. Deletes series that no longer apply because the extension recovered,
 * was disabled or changed, or is being removed. Returns the number of retries.
 */
export async function runRetries(ctx: Context): Promise<number> {
  const due = await ctx.db
    .select({ vmId: retrySeries.vmId, name: retrySeries.name })
    .from(retrySeries)
    .where(lte(retrySeries.nextAt, ctx.now))
    .orderBy(asc(retrySeries.nextAt))
    .limit(seriesPerRun);
  let retried = 0;
  for (const { vmId, name } of due) if (await runRetry(ctx, vmId, name)) retried += 1;
  return retried;
}

/** Returns whether the extension was retried. A failure is logged and does not delay the other series. */
async function runRetry(ctx: Context, vmId: string, name: string): Promise<boolean> {
  try {
    return await ctx.db.transaction(async (tx) => {
      const head = await lockHead(tx, vmId);
      const due = await loadDue(tx, vmId, name);
      if (due === undefined || due.row.nextAt > ctx.now) return false;
      switch (await nextStep(tx, due, head.decommissioning)) {
        case 'end':
          await dropSeries(tx, vmId, name);
          await recordChange(tx, 'vm', vmId);
          return false;
        case 'postpone':
          await tx
            .update(retrySeries)
            .set({ nextAt: nextRetry(ctx.now, postponedMinutes) })
            .where(ofExtension(vmId, name));
          return false;
        case 'retry':
          await retryAgain(tx, ctx, head, due.row);
          return true;
      }
    });
  } catch (error) {
    const isDeleted = error instanceof DomainError && error.code === 'vm_unknown';
    if (!isDeleted) ctx.log.error({ err: error, vmId, extension: name }, 'a scheduled retry failed');
    return false;
  }
}

async function loadDue(tx: Transaction, vmId: string, name: string): Promise<Due | undefined> {
  const [due] = await tx
    .select({
      row: retrySeries,
      extension: extensions,
      health: { health: extensionHealth.health, cause: extensionHealth.cause },
    })
    .from(retrySeries)
    .leftJoin(extensions, and(eq(extensions.vmId, retrySeries.vmId), eq(extensions.name, retrySeries.name)))
    .leftJoin(
      extensionHealth,
      and(eq(extensionHealth.vmId, retrySeries.vmId), eq(extensionHealth.name, retrySeries.name)),
    )
    .where(ofExtension(vmId, name));
  return due;
}

/**
 * Decides whether to retry, to postpone the retry, or to end the series. Postpones while the VM is on hold or its agent
 * is unresponsive, because the agent would not get the new goal state.
 */
async function nextStep(
  tx: Transaction,
  { row, extension, health }: Due,
  isDecommissioning: boolean,
): Promise<'end' | 'postpone' | 'retry'> {
  if (isDecommissioning || extension === null || !isCurrent(row, extension)) return 'end';
  if ((await readHold(tx, row.vmId)) !== null || health === null) return 'postpone';
  if (health.health === 'healthy' || health.health === 'disabled') return 'end';
  const isRetryable = needsAttention.some((word) => word === health.health) && health.cause !== 'silent';
  return isRetryable ? 'retry' : 'postpone';
}

async function retryAgain(
  tx: Transaction,
  ctx: Context,
  head: Head & { decommissioning: boolean },
  row: RetrySeriesRow,
) {
  const { vmId, name, times, startedBy } = row;
  const repeated = await repeatExtension(tx, ctx, head, name);
  const { handler, version, sequenceNumber } = repeated.row;
  const done = row.done + 1;
  await recordAudit(tx, ctx, {
    action: 'extension.retry-again',
    target: { kind: 'extension', id: name },
    vmId,
    details: { handler, version, done, times, by: startedBy },
  });
  if (done === times) await dropSeries(tx, vmId, name);
  else {
    await tx
      .update(retrySeries)
      .set({ done, sequenceNumber, digest: digestOf(repeated.row), nextAt: nextRetry(ctx.now, row.everyMinutes) })
      .where(ofExtension(vmId, name));
  }
}
