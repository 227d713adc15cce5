import { eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { extensions, goalStateHeads } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { sealForCertificate } from './custody.ts';
import type { KeyOrigin } from './may-release.ts';
import { lockHead, publishGoalState } from './publish.ts';

/** Clears the certificate of a VM whose agent was removed. Enrolling another agent binds a new certificate. */
export async function unbindCertificate(tx: Transaction, vmId: string): Promise<void> {
  await tx.update(goalStateHeads).set({ certificate: null, thumbprint: null }).where(eq(goalStateHeads.vmId, vmId));
}

/** Creates a VM's first goal state, incarnation 1, without extensions. */
export async function beginGoalStates(tx: Transaction, ctx: Context, vmId: string): Promise<void> {
  const [head] = await tx
    .insert(goalStateHeads)
    .values({ vmId, incarnation: 0, etag: '', text: '', publishedAt: ctx.now })
    .returning();
  if (head) await publishGoalState(tx, ctx, head, { action: 'vm.create' });
}

/**
 * Binds the VM's protected settings to a certificate. Settings that may not be released to it are withheld, and the
 * activity log names `issuer`. Increases the incarnation but no sequence number, so no handler runs again. With the
 * origin `issued`, earlier deliveries no longer count. Returns the new incarnation.
 */
export async function bindCertificate(
  tx: Transaction,
  ctx: Context,
  vmId: string,
  certificate: { pem: string; thumbprint: string },
  origin: KeyOrigin,
  issuer: string | null = null,
): Promise<number> {
  const head = await lockHead(tx, vmId);
  await sealForCertificate(tx, ctx, head, certificate, origin, issuer);
  await tx
    .update(goalStateHeads)
    .set({ certificate: certificate.pem, thumbprint: certificate.thumbprint })
    .where(eq(goalStateHeads.vmId, vmId));
  if (origin.kind === 'issued') {
    // The new machine has received nothing yet. Null commands represent the usual commands of the goal.
    await tx.update(extensions).set({ deliveredAt: null, commands: null }).where(eq(extensions.vmId, vmId));
  }
  return publishGoalState(tx, ctx, head, {
    action: origin.kind === 'renewed' ? 'certificate.renew' : 'certificate.bind',
  });
}
