import type { Transaction } from '#db/client.ts';
import { retrySeries } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import {
  type ExtensionReceipt,
  type ExtensionRow,
  lockHead,
  receiptOf,
  repeatExtension,
  requireIncarnation,
} from '#server/domain/goal-states/index.ts';
import { parse } from '#server/domain/parse.ts';
import { type RetryExtensionInput, retryExtensionInput } from './input.ts';
import { digestOf, dropSeries, nextRetry } from './series.ts';

/**
 * Runs an extension's handler again: same contents, next sequence number. With `everyMinutes`, the portal repeats this
 * up to `times` times, until the extension recovers or someone changes or retries it. Throws 404 `vm_unknown` |
 * `extension_absent`, 409 `uninstalling` | `vm_decommissioning`, 412 `goal_state_moved_on` | `extension_moved_on`.
 */
export async function retryExtension(ctx: Context, input: RetryExtensionInput): Promise<ExtensionReceipt> {
  allow(ctx.actor, 'operator');
  const { vmId, name, sequenceNumber, everyMinutes, times, ifMatch } = parse(retryExtensionInput, input);
  return ctx.db.transaction(async (tx) => {
    const head = await lockHead(tx, vmId);
    requireIncarnation(head, ifMatch);
    const { row, incarnation } = await repeatExtension(tx, ctx, head, name, sequenceNumber);
    const repeat = everyMinutes === undefined ? null : { everyMinutes, times };
    await dropSeries(tx, vmId, name);
    if (repeat) await beginSeries(tx, ctx, row, repeat);
    const { handler, version } = row;
    await recordAudit(tx, ctx, {
      action: 'extension.retry',
      target: { kind: 'extension', id: name },
      vmId,
      details: { handler, version, sequenceNumber: row.sequenceNumber, ...repeat },
    });
    return { ...receiptOf(row), incarnation };
  });
}

type Repeat = Pick<typeof retrySeries.$inferInsert, 'everyMinutes' | 'times'>;

async function beginSeries(tx: Transaction, ctx: Context, row: ExtensionRow, repeat: Repeat): Promise<void> {
  await tx.insert(retrySeries).values({
    vmId: row.vmId,
    name: row.name,
    ...repeat,
    nextAt: nextRetry(ctx.now, repeat.everyMinutes),
    sequenceNumber: row.sequenceNumber,
    digest: digestOf(row),
    startedAt: ctx.now,
    startedBy: ctx.actor.name,
  });
}
