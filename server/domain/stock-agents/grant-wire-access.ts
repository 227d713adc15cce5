import { eq } from 'drizzle-orm';
import { v4 as randomId } from 'uuid';
import { z } from 'zod';
import type { Transaction } from '#db/client.ts';
import { agents, stockAgents } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { credentialsChannel, insertStockAgent, replaceStockAgent } from '#server/domain/enrollment/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { bindCertificate, type KeyOrigin } from '#server/domain/goal-states/index.ts';
import { parse } from '#server/domain/parse.ts';
import { actorRef, findPrincipal } from '#server/domain/principal.ts';
import { getVm, lockVm } from '#server/domain/vms/index.ts';
import { tell } from '#server/platform/wakes/index.ts';
import { type GrantWireAccessInput, grantWireAccessInput } from './input.ts';
import { createTenantKey, sealTenantKey, type TenantKey } from './tenant-key.ts';
import { newWireToken, wireTokenHash } from './wire-token.ts';

export const forwarderToken = z.object({ token: z.string() });
export type ForwarderToken = z.infer<typeof forwarderToken>;

/**
 * Creates a forwarder token for a VM. The token is shown only once, and the commit revokes the previous token. The
 * first token switches the VM to stock mode. Each token comes with a new tenant key, because the token's holder can
 * fetch the key. Protected settings are encrypted for the new key by the same rules as for an enrolling machine. Throws
 * 404 `vm_unknown`, 409 `wire_off` | `vm_has_reference_agent` | `vm_needs_reference_agent` for a machine of a model.
 */
export async function grantWireAccess(ctx: Context, input: GrantWireAccessInput): Promise<ForwarderToken> {
  allow(ctx.actor, 'operator');
  const { vmId } = parse(grantWireAccessInput, input);
  await getVm(ctx, { vmId });
  if (!ctx.config.wire) throw new DomainError('conflict', 'wire_off');
  const [known] = await ctx.db.select({ kind: agents.kind }).from(agents).where(eq(agents.vmId, vmId));
  if (known?.kind === 'reference') throw new DomainError('conflict', 'vm_has_reference_agent');
  const key = await createTenantKey(ctx.now);
  const token = newWireToken();
  const credentialHash = wireTokenHash(vmId, token);
  await ctx.db.transaction(async (tx) => {
    const { instanceId } = await lockVm(tx, vmId);
    if (instanceId !== null)
      throw new DomainError('conflict', 'vm_needs_reference_agent', { params: { instance: instanceId } });
    const issuer = await findPrincipal(tx, actorRef(ctx.actor), ctx.now);
    const origin: KeyOrigin = { kind: 'issued', issuer, sameKey: false };
    const rotated = await isGranted(tx, vmId);
    if (rotated) await regrant(tx, ctx, vmId, credentialHash, key, origin);
    else await begin(tx, ctx, vmId, credentialHash, key, origin);
    await recordAudit(tx, ctx, {
      action: 'wire-access.grant',
      target: { kind: 'vm', id: vmId },
      vmId,
      details: { rotated },
    });
    await recordChange(tx, 'vm', vmId);
    await tell(tx, credentialsChannel, [vmId]);
  });
  key.privateKey.fill(0);
  return { token };
}

async function isGranted(tx: Transaction, vmId: string): Promise<boolean> {
  const rows = await tx.select({ vmId: stockAgents.vmId }).from(stockAgents).where(eq(stockAgents.vmId, vmId));
  return rows.length > 0;
}

/** Replaces the forwarder token and the tenant key. */
async function regrant(
  tx: Transaction,
  ctx: Context,
  vmId: string,
  credentialHash: string,
  key: TenantKey,
  origin: KeyOrigin,
): Promise<void> {
  await replaceStockAgent(tx, { vmId, credentialHash, certificate: key.certificate, enrolledAt: ctx.now });
  await tx
    .update(stockAgents)
    .set({
      ...grantOf(ctx),
      sightings: [],
      tenantKey: sealTenantKey(ctx.keys, vmId, key),
      tenantKeyAt: ctx.now,
      wrappedTenantKey: null,
    })
    .where(eq(stockAgents.vmId, vmId));
  await bindCertificate(tx, ctx, vmId, key.certificate, origin, ctx.actor.name);
}

const grantOf = ({ actor, now }: Context) => ({
  grantedAt: now,
  grantedBy: actor.name,
  issuedBy: actorRef(actor),
});

async function begin(
  tx: Transaction,
  ctx: Context,
  vmId: string,
  credentialHash: string,
  key: TenantKey,
  origin: KeyOrigin,
): Promise<void> {
  const identity = { vmId, credentialHash, certificate: key.certificate, enrolledAt: ctx.now };
  // The insert returns false if a reference agent has enrolled since the check.
  if (!(await insertStockAgent(tx, identity))) throw new DomainError('conflict', 'vm_has_reference_agent');
  await tx.insert(stockAgents).values({
    vmId,
    containerId: randomId(),
    ...grantOf(ctx),
    tenantKey: sealTenantKey(ctx.keys, vmId, key),
    tenantKeyAt: ctx.now,
    publishedVersions: true,
  });
  await bindCertificate(tx, ctx, vmId, key.certificate, origin, ctx.actor.name);
}
