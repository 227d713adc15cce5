import { X509Certificate } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { agents } from '#db/schema/index.ts';
import type { RenewCertificateRequest, RenewCertificateResponse } from '#protocol/index.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { bindCertificate, lockHead } from '#server/domain/goal-states/index.ts';
import { isSignedBy } from '#server/platform/cms.ts';
import { rejectKeyOfOtherVm, rejectTakenKey, requireFit } from './fit-key.ts';

/**
 * Replaces the certificate of a VM's machine: protected settings are encrypted for the new certificate, no handler runs
 * again, and the credential stays valid. A request with the current certificate changes nothing, so an agent that did
 * not get the response can repeat its request. Throws 422 `certificate_unfit` and `proof_refused`, 409 `key_in_use`,
 * 401 `credential_refused`.
 */
export async function renewCertificate(
  ctx: Context,
  vmId: string,
  request: RenewCertificateRequest,
): Promise<RenewCertificateResponse> {
  const certificate = requireFit(request.certificate);
  return ctx.db.transaction(async (tx) => {
    const head = await lockHead(tx, vmId);
    const [before] = await tx
      .select({ certificate: agents.certificate, thumbprint: agents.thumbprint })
      .from(agents)
      .where(eq(agents.vmId, vmId));
    if (before === undefined) throw new DomainError('unauthenticated', 'credential_refused');
    const { thumbprint } = certificate;
    if (before.certificate === certificate.pem) return { vmId, thumbprint, incarnation: head.incarnation };
    requireProof(before.certificate, request);
    await rejectKeyOfOtherVm(tx, vmId, certificate);
    await tx
      .update(agents)
      .set({ certificate: certificate.pem, thumbprint, keyHash: certificate.keyHash })
      .where(eq(agents.vmId, vmId))
      .catch(rejectTakenKey);
    const incarnation = await bindCertificate(tx, ctx, vmId, certificate, { kind: 'renewed' });
    await recordAudit(tx, ctx, {
      action: 'agent.renew-certificate',
      target: { kind: 'vm', id: vmId },
      vmId,
      before: { thumbprint: before.thumbprint },
      after: { thumbprint },
    });
    return { vmId, thumbprint, incarnation };
  });
}

/** Rejects a request that is not signed with the old key: a stolen credential alone must not give access to secrets. */
function requireProof(oldCertificate: string, { certificate, proof }: RenewCertificateRequest): void {
  const signature = Buffer.from(proof, 'base64');
  const signed = [Buffer.from(certificate), new X509Certificate(certificate).raw];
  if (signed.some((bytes) => isSignedBy(oldCertificate, bytes, signature))) return;
  throw new DomainError('unprocessable', 'proof_refused', { faults: [{ path: '/proof', code: 'proof_refused' }] });
}
