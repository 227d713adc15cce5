import { and, eq } from 'drizzle-orm';
import { models, vmRoles, vms } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import type { Reservation } from './reserve-instance.ts';

/**
 * Returns the error for an instance that people removed, or whose model they destroy, while it was being created: 409
 * `machine_removed` | `model_dying`. Null if they did not, also if the repair deletes the instance after its lease.
 */
export async function removedMeanwhile({ db }: Context, { role }: Reservation): Promise<DomainError | null> {
  const { vmId, modelId, leaseUntil } = role;
  const [found] = await db
    .select({ life: models.life, deletingAt: vmRoles.deletingAt, deletedAt: vms.deletedAt })
    .from(models)
    .innerJoin(vms, eq(vms.id, vmId))
    .leftJoin(vmRoles, and(eq(vmRoles.vmId, vmId), eq(vmRoles.modelId, models.id)))
    .where(eq(models.id, modelId));
  if (found?.life === 'destroying') return new DomainError('conflict', 'model_dying');
  // The repair may have deleted the role already, and the VM with it.
  const removedAt = found?.deletingAt ?? found?.deletedAt ?? null;
  const isRemoved = removedAt !== null && leaseUntil !== null && removedAt < leaseUntil;
  return isRemoved ? new DomainError('conflict', 'machine_removed') : null;
}
