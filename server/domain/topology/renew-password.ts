import { eq } from 'drizzle-orm';
import { z } from 'zod';
import { vmRoles } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { formatInstanceId } from '#server/domain/topology-rules/instance-ids.ts';
import { vmId } from '#server/domain/vms/input.ts';
import { lockRole } from './find-role.ts';
import { type RenewPasswordInput, renewPasswordInput } from './input.ts';
import { newPassword, sealPassword } from './role-password.ts';

/** A new password of a role, which is shown only once. */
export const rolePassword = z
  .object({
    vmId,
    instanceId: z.string(),
    userName: z.string(),
    password: z.string().describe('The new password of the first user. It is shown only in this response.'),
  })
  .meta({ id: 'RolePassword' });
export type RolePassword = z.infer<typeof rolePassword>;

/**
 * Replaces the password of a role's first user with a new random one. The previous one can no longer be decrypted. Throws
 * 404 `role_instance_unknown`, 409 `role_creating` | `role_dying` | `model_dying` | `legacy_instance_ambiguous`.
 */
export async function renewPassword(ctx: Context, input: RenewPasswordInput): Promise<RolePassword> {
  allow(ctx.actor, 'operator');
  const { instance } = parse(renewPasswordInput, input);
  return ctx.db.transaction(async (tx) => {
    const { model, role } = await lockRole(tx, instance, undefined);
    const { vmId, cloudService, name, hostname, userName, state } = role;
    // The provider creates the role with the password that it was given.
    if (state === 'creating') throw new DomainError('conflict', 'role_creating');
    const password = newPassword();
    await tx
      .update(vmRoles)
      .set({ password: sealPassword(ctx.keys, vmId, password) })
      .where(eq(vmRoles.vmId, vmId));
    await recordAudit(tx, ctx, {
      action: 'role.password',
      target: { kind: 'model', id: model.name },
      vmId,
      details: { machine: hostname },
    });
    return { vmId, instanceId: formatInstanceId({ service: cloudService, role: name }), userName, password };
  });
}
