import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import { agents, stockAgents } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { count } from '#server/domain/answers.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { replaceStockKey } from '#server/domain/enrollment/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { bindCertificate } from '#server/domain/goal-states/index.ts';
import { parse } from '#server/domain/parse.ts';
import { lockVm } from '#server/domain/vms/index.ts';
import { type RotateTenantKeyInput, rotateTenantKeyInput } from './input.ts';
import { createTenantKey, sealTenantKey } from './tenant-key.ts';

/** The certificate of the new key, and the incarnation whose protected settings are encrypted for it. */
export const rotatedTenantKey = z.object({ thumbprint: z.string(), incarnation: count });
export type RotatedTenantKey = z.infer<typeof rotatedTenantKey>;

/**
 * Replaces the tenant key of a stock VM: protected settings are encrypted for the new key in a new incarnation, and
 * sequence numbers do not change. The agent fetches the key without further action. Throws 404 `vm_unknown` |
 * `wire_access_absent`.
 */
export async function rotateTenantKey(ctx: Context, input: RotateTenantKeyInput): Promise<RotatedTenantKey> {
  allow(ctx.actor, 'operator');
  const { vmId } = parse(rotateTenantKeyInput, input);
  const key = await createTenantKey(ctx.now);
  const { thumbprint } = key.certificate;
  return ctx.db.transaction(async (tx) => {
    await lockVm(tx, vmId);
    const [before] = await tx
      .select({ thumbprint: agents.thumbprint })
      .from(agents)
      .where(and(eq(agents.vmId, vmId), eq(agents.kind, 'stock')));
    if (before === undefined) throw new DomainError('not_found', 'wire_access_absent');
    await replaceStockKey(tx, vmId, key.certificate);
    await tx
      .update(stockAgents)
      .set({ tenantKey: sealTenantKey(ctx.keys, vmId, key), tenantKeyAt: ctx.now, wrappedTenantKey: null })
      .where(eq(stockAgents.vmId, vmId));
    const incarnation = await bindCertificate(tx, ctx, vmId, key.certificate, { kind: 'renewed' });
    await recordAudit(tx, ctx, {
      action: 'wire-access.rotate-key',
      target: { kind: 'vm', id: vmId },
      vmId,
      before,
      after: { thumbprint },
    });
    return { thumbprint, incarnation };
  });
}
