import { and, eq, sql } from 'drizzle-orm';
import { agents, stockAgents } from '#db/schema/index.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { encryptForCertificate, readSealingCertificate } from '#server/platform/cms.ts';
import { openPfx } from '#server/platform/pkcs12.ts';
import { openTenantKey } from './tenant-key.ts';

/**
 * The tenant key of a VM and its certificate as PKCS#12 in a CMS envelope (DER) for the transport certificate that the
 * agent made (PEM). Another one than before is an act: the agent makes one at each start, and whoever holds the
 * forwarder's token could too. Null where the certificate cannot be sealed for, or the token with this hash is not the
 * VM's by now, whatever the caller remembers.
 */
export async function wrapTenantKey(
  ctx: Context,
  { vmId, credentialHash, transportPem }: { vmId: string; credentialHash: string; transportPem: string },
): Promise<Buffer | null> {
  const transport = readSealingCertificate(transportPem);
  if (transport === null) return null;
  const sealed = await ctx.db.transaction(async (tx) => {
    const [row] = await tx
      .select({
        certificate: agents.certificate,
        tenantKey: stockAgents.tenantKey,
        was: stockAgents.transportThumbprint,
      })
      .from(stockAgents)
      .innerJoin(agents, eq(agents.vmId, stockAgents.vmId))
      .where(and(eq(stockAgents.vmId, vmId), eq(agents.credentialHash, credentialHash)));
    if (row === undefined) return null;
    const { thumbprint } = transport;
    const changed = await tx
      .update(stockAgents)
      .set({ transportThumbprint: thumbprint, transportAt: ctx.now })
      .where(and(eq(stockAgents.vmId, vmId), sql`${stockAgents.transportThumbprint} is distinct from ${thumbprint}`))
      .returning({ vmId: stockAgents.vmId });
    if (changed.length > 0) {
      await recordAudit(tx, ctx, {
        action: 'wire-access.renew-certificate',
        target: { kind: 'vm', id: vmId },
        vmId,
        ...(row.was !== null && { before: { thumbprint: row.was } }),
        after: { thumbprint },
      });
      await recordChange(tx, 'vm', vmId);
    }
    return row;
  });
  if (sealed?.tenantKey == null) return null;
  const key = openTenantKey(ctx.keys, vmId, sealed.tenantKey);
  const pfx = openPfx(key, sealed.certificate);
  const wrapped = encryptForCertificate(transport.pem, pfx);
  key.fill(0);
  pfx.fill(0);
  return wrapped;
}
