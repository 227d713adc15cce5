import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '#db/client.ts';
import { deployments, models, vmRoles } from '#db/schema/index.ts';
import { count } from '#server/domain/answers.ts';
import { formatInstanceId } from '#server/domain/topology-rules/instance-ids.ts';
import { resourceStates, slots } from '#server/domain/topology-rules/words.ts';

/** Where the VM of a role is. */
export const rolePlace = z.object({
  model: z.string(),
  cloudService: z.string(),
  availabilitySet: z.string().nullable().describe('Null in a model without availability sets.'),
  instanceId: z.string(),
});

/** Where the VM of a role is, with what its own page shows in addition. */
export const vmRole = rolePlace.extend({
  machine: count.describe('The number of the machine in its model.'),
  controller: z.boolean(),
  slot: z.enum(slots),
  assignedAddress: z.string().nullable().describe('The internal address that the provider assigned.'),
  adopted: z.boolean().describe('Whether the VM existed before, so that it stays when the machine is removed.'),
  state: z.enum(resourceStates),
});
export type VmRole = z.infer<typeof vmRole>;

/** Reads the role of a VM; null if the VM belongs to no model. */
export async function readVmRole(db: Database, vmId: string): Promise<VmRole | null> {
  const [row] = await db
    .select({ role: vmRoles, model: models.name, slot: deployments.slot })
    .from(vmRoles)
    .innerJoin(models, eq(models.id, vmRoles.modelId))
    .innerJoin(
      deployments,
      and(eq(deployments.cloudService, vmRoles.cloudService), eq(deployments.name, vmRoles.deployment)),
    )
    .where(eq(vmRoles.vmId, vmId));
  if (row === undefined) return null;
  const { cloudService, name, availabilitySet, machine, controller, assignedAddress, adopted, state } = row.role;
  const instanceId = formatInstanceId({ service: cloudService, role: name });
  return {
    ...{ model: row.model, cloudService, availabilitySet, instanceId },
    ...{ machine, controller, slot: row.slot, assignedAddress, adopted, state },
  };
}
