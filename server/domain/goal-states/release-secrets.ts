import { z } from 'zod';
import { allow } from '#server/domain/actor.ts';
import { count } from '#server/domain/answers.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { vmId } from '#server/domain/vms/input.ts';
import { sealWithheld } from './custody.ts';
import { type ReleaseSecretsInput, releaseSecretsInput } from './input.ts';
import { lockHead, publishGoalState } from './publish.ts';

/** Result of a release. */
export const releasedSecrets = z.object({
  vmId,
  /** Thumbprint of the VM's certificate; null if it has none. */
  thumbprint: z.string().nullable(),
  /** Extensions whose current settings were withheld. */
  extensions: z.array(z.string()),
  incarnation: count,
});
export type ReleasedSecrets = z.infer<typeof releasedSecrets>;

/**
 * Releases secrets that are withheld from a VM's key, including secrets of earlier goal states, so that a revert can
 * use them. `thumbprint` is the certificate that the admin reviewed. If no secrets are withheld, nothing changes.
 * Throws 404 `vm_unknown`, 412 `key_changed`.
 */
export async function releaseSecrets(ctx: Context, input: ReleaseSecretsInput): Promise<ReleasedSecrets> {
  allow(ctx.actor, 'admin');
  const { vmId, thumbprint: seen } = parse(releaseSecretsInput, input);
  return ctx.db.transaction(async (tx) => {
    const head = await lockHead(tx, vmId);
    const { certificate: pem, thumbprint } = head;
    if (seen !== undefined && seen !== thumbprint) throw new DomainError('precondition_failed', 'key_changed');
    const unchanged = { vmId, thumbprint, extensions: [], incarnation: head.incarnation };
    if (pem === null || thumbprint === null) return unchanged;
    const { extensions, secrets } = await sealWithheld(tx, ctx, vmId, { pem, thumbprint });
    if (secrets === 0) return unchanged;
    await recordAudit(tx, ctx, {
      action: 'secrets.release',
      target: { kind: 'vm', id: vmId },
      vmId,
      details: { thumbprint, extensions, secrets },
    });
    const incarnation = await publishGoalState(tx, ctx, head, { action: 'secrets.release' });
    return { vmId, thumbprint, extensions, incarnation };
  });
}
