import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import { handlerVersions } from '#db/schema/index.ts';
import { parseHandlerId } from '#protocol/names.ts';
import { allowNamespace } from '#server/domain/actor.ts';
import { instant } from '#server/domain/answers.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { requireVersion } from './find-version.ts';
import { type WithdrawVersionInput, withdrawVersionInput } from './input.ts';

export const withdrawnVersion = z.object({
  handler: z.string(),
  version: z.string(),
  state: z.literal('withdrawn'),
  reason: z.string(),
  withdrawnAt: instant,
});
export type WithdrawnVersion = z.infer<typeof withdrawnVersion>;

/**
 * Withdraws a published version, so that it can no longer be declared. Goal states that already contain the version
 * keep it. A second call changes nothing and keeps the first reason. Throws 409 for a draft.
 */
export async function withdrawVersion(ctx: Context, input: WithdrawVersionInput): Promise<WithdrawnVersion> {
  const { reason, ...reference } = parse(withdrawVersionInput, input);
  allowNamespace(ctx.actor, parseHandlerId(reference.handler)?.namespace ?? '');
  return ctx.db.transaction(async (tx) => {
    const row = await requireVersion(tx, reference, { lock: true });
    const { handler, version } = row;
    if (row.state === 'draft') throw new DomainError('conflict', 'draft_not_withdrawn', { params: { version } });
    if (row.state === 'withdrawn') {
      const { withdrawnReason, withdrawnAt } = row;
      return {
        handler,
        version,
        state: 'withdrawn',
        reason: withdrawnReason ?? '',
        withdrawnAt: withdrawnAt ?? ctx.now,
      };
    }
    await tx
      .update(handlerVersions)
      .set({ state: 'withdrawn', withdrawnAt: ctx.now, withdrawnReason: reason })
      .where(and(eq(handlerVersions.handler, handler), eq(handlerVersions.version, version)));
    await recordAudit(tx, ctx, {
      action: 'version.withdraw',
      target: { kind: 'version', id: `${handler}-${version}` },
      before: { state: row.state },
      after: { state: 'withdrawn', reason },
      details: { handler, version, reason },
    });
    await recordChange(tx, 'handler', handler);
    return { handler, version, state: 'withdrawn', reason, withdrawnAt: ctx.now };
  });
}
