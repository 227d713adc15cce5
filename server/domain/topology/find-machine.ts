import { and, eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { vmRoles } from '#db/schema/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { place } from '#server/domain/topology-rules/place.ts';
import { type ModelRow, readInventory } from './model-rows.ts';

/**
 * Returns the VM of the machine that a unit is to be placed on. The caller has locked the model. Throws 409
 * `unit_placement_unsupported` in a model with availability sets (JU-8), 422 `placement_unknown`.
 */
export async function findMachine(tx: Transaction, model: ModelRow, machine: number): Promise<string> {
  const inventory = await readInventory(tx, model);
  const placed = place(inventory, { for: 'unit', group: [], to: machine }, () => '');
  if ('refusal' in placed) {
    const kind = placed.refusal === 'placement_unknown' ? 'unprocessable' : 'conflict';
    throw new DomainError(kind, placed.refusal);
  }
  const [role] = await tx
    .select({ vmId: vmRoles.vmId })
    .from(vmRoles)
    .where(and(eq(vmRoles.modelId, model.id), eq(vmRoles.machine, machine)));
  if (role === undefined) throw new DomainError('unprocessable', 'placement_unknown');
  return role.vmId;
}
