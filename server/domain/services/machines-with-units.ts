import { and, eq, inArray, isNull } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { services, units } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import * as topology from '#server/domain/topology/index.ts';
import { dismissService } from './remove-service.ts';
import { dismissUnits } from './units/leave.ts';

/**
 * Removes a machine without units, as the topology's verb does; with `force`, its units are removed without their agent.
 * Throws 409 `vm_has_units`.
 */
export function removeMachine(ctx: Context, input: Parameters<typeof topology.removeMachine>[1]): Promise<void> {
  return topology.removeMachine(ctx, input, async (tx, { vmId, force }) => {
    const present = await tx
      .select()
      .from(units)
      .where(and(eq(units.vmId, vmId), isNull(units.removedAt)))
      .orderBy(units.name);
    if (present.length === 0) return;
    if (!force) {
      const names = present.map(({ name }) => name).join(', ');
      throw new DomainError('conflict', 'vm_has_units', { params: { units: names } });
    }
    await dismissUnits(tx, ctx, present, true);
  });
}

/**
 * Begins to destroy a model, as the topology's verb does: first its services with their relations and units. A machine
 * is deleted after its last unit.
 */
export function destroyModel(
  ctx: Context,
  input: Parameters<typeof topology.destroyModel>[1],
): Promise<topology.Model> {
  return topology.destroyModel(ctx, input, async (tx, { id }, force) => {
    const present = await tx
      .select()
      .from(services)
      .where(and(eq(services.modelId, id), isNull(services.removedAt)))
      .orderBy(services.id);
    for (const service of present) await dismissService(tx, ctx, service, force);
    return busyVms(
      tx,
      present.map((service) => service.id),
    );
  });
}

/** Returns the VMs with units of services that have not left yet. */
async function busyVms(tx: Transaction, serviceIds: readonly string[]): Promise<string[]> {
  const rows = await tx
    .selectDistinct({ vmId: units.vmId })
    .from(units)
    .where(and(inArray(units.serviceId, [...serviceIds]), isNull(units.removedAt)));
  return rows.map(({ vmId }) => vmId);
}
