import { eq } from 'drizzle-orm';
import { z } from 'zod';
import { vmRoles } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { enrollment, issueEnrollmentToken } from '#server/domain/enrollment/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { formatInstanceId } from '#server/domain/topology-rules/instance-ids.ts';
import { type RenewTokenInput, renewTokenInput } from './input.ts';
import { enrollCommand, statedInstance } from './machine-view.ts';

/** A VM with a new enrollment token, and the command that enrolls its machine. */
export const renewedToken = enrollment.extend({
  instance: statedInstance.nullable().describe('What the agent must send; null if the VM is not a machine of a model.'),
  command: z.string().describe('The command that enrolls the machine.'),
});
export type RenewedToken = z.infer<typeof renewedToken>;

/**
 * Issues an enrollment token for a VM's first or next machine. If the VM is a machine of a model, the command contains
 * its instance id and its internal address. Throws 404 `vm_unknown`, 409 `vm_has_stock_agent` | `role_dying`.
 */
export async function renewToken(ctx: Context, input: RenewTokenInput): Promise<RenewedToken> {
  allow(ctx.actor, 'operator');
  const { vmId } = parse(renewTokenInput, input);
  const [role] = await ctx.db.select().from(vmRoles).where(eq(vmRoles.vmId, vmId));
  if (role?.state === 'deleting') throw new DomainError('conflict', 'role_dying');
  const issued = await issueEnrollmentToken(ctx, { vmId });
  const instance = role
    ? {
        id: formatInstanceId({ service: role.cloudService, role: role.name }),
        internalAddress: role.assignedAddress,
      }
    : null;
  return { ...issued, instance, command: enrollCommand(ctx.config, issued.enrollmentToken, instance) };
}
