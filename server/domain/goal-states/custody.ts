import { and, eq } from 'drizzle-orm';
import { v7 as uuid } from 'uuid';
import type { Transaction } from '#db/client.ts';
import { secrets } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { encryptForCertificate } from '#server/platform/cms.ts';
import { keyedDigest, seal, unseal } from '#server/platform/keys.ts';
import { canonicalJson } from './goal-state.ts';
import type { Head } from './publish.ts';

export type SecretRow = typeof secrets.$inferSelect;

/** Tells changed from unchanged protected settings, salted per VM and extension, and nothing else. */
export function fingerprintOf(ctx: Context, vmId: string, name: string, value: unknown): string {
  return keyedDigest(ctx.keys.fingerprint, vmId, name, canonicalJson(value)).toString('base64url');
}

/** What binds a sealed value to its place: moved to another VM or row it does not open. */
const boundTo = (vmId: string, id: string): string => `${vmId}/${id}`;

/**
 * Stores protected settings in the forms that custody allows (api.md, "Custody") and returns the row's id.
 * With `ANNEX_CUSTODY=vm` the portal's own form exists only until there is a certificate.
 */
export async function storeSecret(
  tx: Transaction,
  ctx: Context,
  head: Head,
  name: string,
  value: unknown,
  schemaDigest: string | null,
): Promise<string> {
  const id = uuid();
  const plain = Buffer.from(JSON.stringify(value));
  const keepSealed = ctx.config.custody === 'portal' || head.certificate === null;
  await tx.insert(secrets).values({
    vmId: head.vmId,
    id,
    name,
    sealed: keepSealed ? seal(ctx.keys.sealing, plain, boundTo(head.vmId, id)) : null,
    cms: head.certificate === null ? null : encryptForCertificate(head.certificate, plain),
    thumbprint: head.thumbprint,
    fingerprint: fingerprintOf(ctx, head.vmId, name, value),
    schemaDigest,
    changedAt: ctx.now,
    changedBy: ctx.actor.name,
  });
  plain.fill(0);
  return id;
}

/** The row of a secret, or null. */
export async function findSecret(tx: Transaction, vmId: string, id: string | null): Promise<SecretRow | null> {
  if (id === null) return null;
  const [row] = await tx
    .select()
    .from(secrets)
    .where(and(eq(secrets.vmId, vmId), eq(secrets.id, id)));
  return row ?? null;
}

/**
 * Encrypts every secret of a VM for a new certificate. One whose portal form is gone (`ANNEX_CUSTODY=vm`) loses its
 * old form too: it shows as needing its values again and is not delivered.
 */
export async function resealSecrets(
  tx: Transaction,
  ctx: Context,
  vmId: string,
  certificate: { pem: string; thumbprint: string },
): Promise<void> {
  for (const row of await tx.select().from(secrets).where(eq(secrets.vmId, vmId))) {
    const plain = row.sealed && unseal(ctx.keys.sealing, row.sealed, boundTo(vmId, row.id));
    await tx
      .update(secrets)
      .set({
        cms: plain && encryptForCertificate(certificate.pem, plain),
        thumbprint: plain && certificate.thumbprint,
        ...(ctx.config.custody === 'vm' && { sealed: null }),
      })
      .where(and(eq(secrets.vmId, vmId), eq(secrets.id, row.id)));
    plain?.fill(0);
  }
}
