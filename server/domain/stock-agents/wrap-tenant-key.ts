import { and, eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { agents, stockAgents } from '#db/schema/index.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { replaceStockKey } from '#server/domain/enrollment/index.ts';
import { bindCertificate } from '#server/domain/goal-states/index.ts';
import { lockVm } from '#server/domain/vms/index.ts';
import { encryptForCertificate, readSealingCertificate, type SealingCertificate } from '#server/platform/cms.ts';
import { openPfx } from '#server/platform/pkcs12.ts';
import { createTenantKey, openTenantKey, sealTenantKey, type TenantKey } from './tenant-key.ts';

interface TokenHolder {
  vmId: string;
  credentialHash: string;
  transport: SealingCertificate;
}

/**
 * Returns the tenant key of a VM and its certificate as PKCS#12 in a CMS envelope (DER), encrypted for the agent's
 * transport certificate (PEM). A new certificate is recorded in the activity log: the agent creates a certificate at
 * each start, but a thief with the forwarder token could send one too. With `ANNEX_CUSTODY=vm`, only the envelope is
 * stored, so another transport certificate requires a new key, and protected settings must be entered again. Null if
 * the certificate is unsuitable, or if the token with this hash is no longer valid, regardless of what the caller has
 * cached.
 */
export async function wrapTenantKey(
  ctx: Context,
  { vmId, credentialHash, transportPem }: { vmId: string; credentialHash: string; transportPem: string },
): Promise<Buffer | null> {
  const transport = readSealingCertificate(transportPem);
  if (transport === null) return null;
  const caller = { vmId, credentialHash, transport };
  const wrapped = await ctx.db.transaction((tx) => wrapKnown(tx, ctx, caller));
  if (wrapped !== 'gone') return wrapped;
  // Creating a key takes a tenth of a second, so it is done outside a transaction.
  const key = await createTenantKey(ctx.now);
  return ctx.db.transaction((tx) => wrapNew(tx, ctx, caller, key));
}

type Row = Awaited<ReturnType<typeof load>>;

async function load(tx: Transaction, { vmId, credentialHash }: TokenHolder) {
  const [row] = await tx
    .select({ certificate: agents.certificate, stock: stockAgents })
    .from(stockAgents)
    .innerJoin(agents, eq(agents.vmId, stockAgents.vmId))
    .where(and(eq(stockAgents.vmId, vmId), eq(agents.credentialHash, credentialHash)))
    .for('update', { of: stockAgents });
  return row;
}

/**
 * Returns the stored envelope for this transport certificate, or else wraps the stored key; `gone` if neither is
 * stored, null if the token is not valid.
 */
async function wrapKnown(tx: Transaction, ctx: Context, caller: TokenHolder): Promise<Buffer | null | 'gone'> {
  const row = await load(tx, caller);
  if (row === undefined) return null;
  const { vmId, transport } = caller;
  const { tenantKey, wrappedTenantKey, transportThumbprint } = row.stock;
  if (wrappedTenantKey !== null && transportThumbprint === transport.thumbprint) return wrappedTenantKey;
  if (tenantKey === null) return 'gone';
  const wrapped = wrap(openTenantKey(ctx.keys, vmId, tenantKey), row.certificate, transport);
  if (ctx.config.custody === 'vm') {
    await tx.update(stockAgents).set({ tenantKey: null, wrappedTenantKey: wrapped }).where(eq(stockAgents.vmId, vmId));
  }
  await noteTransport(tx, ctx, caller, row, false);
  return wrapped;
}

/**
 * Like `wrapKnown`, but replaces the tenant key with `key` if the portal stores no form of the current key that this
 * agent could decrypt.
 */
async function wrapNew(tx: Transaction, ctx: Context, caller: TokenHolder, key: TenantKey): Promise<Buffer | null> {
  const { vmId, transport } = caller;
  await lockVm(tx, vmId);
  const known = await wrapKnown(tx, ctx, caller);
  const row = known === 'gone' ? await load(tx, caller) : undefined;
  if (known !== 'gone' || row === undefined) {
    key.privateKey.fill(0);
    return known === 'gone' ? null : known;
  }
  const wrapped = wrap(Buffer.from(key.privateKey), key.certificate.pem, transport);
  const tenantKey = ctx.config.custody === 'vm' ? null : sealTenantKey(ctx.keys, vmId, key);
  key.privateKey.fill(0);
  await replaceStockKey(tx, vmId, key.certificate);
  await tx
    .update(stockAgents)
    .set({ tenantKey, tenantKeyAt: ctx.now, wrappedTenantKey: tenantKey === null ? wrapped : null })
    .where(eq(stockAgents.vmId, vmId));
  await noteTransport(tx, ctx, caller, row, true);
  await bindCertificate(tx, ctx, vmId, key.certificate, { kind: 'renewed' });
  return wrapped;
}

function wrap(key: Buffer, certificate: string, transport: SealingCertificate): Buffer {
  const pfx = openPfx(key, certificate);
  const wrapped = encryptForCertificate(transport.pem, pfx);
  key.fill(0);
  pfx.fill(0);
  return wrapped;
}

async function noteTransport(
  tx: Transaction,
  ctx: Context,
  { vmId, transport: { thumbprint } }: TokenHolder,
  row: NonNullable<Row>,
  newKey: boolean,
): Promise<void> {
  const was = row.stock.transportThumbprint;
  if (was === thumbprint && !newKey) return;
  await tx
    .update(stockAgents)
    .set({ transportThumbprint: thumbprint, transportAt: ctx.now })
    .where(eq(stockAgents.vmId, vmId));
  await recordAudit(tx, ctx, {
    action: 'wire-access.renew-certificate',
    target: { kind: 'vm', id: vmId },
    vmId,
    ...(was !== null && { before: { thumbprint: was } }),
    after: { thumbprint, ...(newKey && { newKey }) },
  });
  await recordChange(tx, 'vm', vmId);
}
