import { eq, inArray } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { models, vmRoles } from '#db/schema/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { findRole } from '#server/domain/topology-rules/instance-ids.ts';
import { lockModel, type ModelRow, requireAlive } from './model-rows.ts';

export type RoleRow = typeof vmRoles.$inferSelect;

/**
 * Locks the model of an instance, and returns the model and the role. Throws 404 `role_instance_unknown`, 409
 * `legacy_instance_ambiguous` | `model_dying` | `role_dying`, 412 `model_changed`.
 */
export async function lockRole(
  tx: Transaction,
  instance: string,
  ifMatch: number | undefined,
): Promise<{ model: ModelRow; role: RoleRow }> {
  const named = await findRows(tx, instance);
  const [first] = named;
  if (first === undefined) throw new DomainError('not_found', 'role_instance_unknown');
  const model = await lockModel(tx, first.model, ifMatch);
  // Reads the roles again, because they may have changed before the lock.
  const rows = (await findRows(tx, instance)).map(({ role }) => role);
  const found = findRole(model.name, instance, (service) =>
    rows.filter(({ cloudService }) => cloudService === service).map(({ name }) => name),
  );
  if ('refusal' in found) {
    if (found.refusal === 'instance_unknown') throw new DomainError('not_found', 'role_instance_unknown');
    throw new DomainError('conflict', found.refusal, { params: found.params });
  }
  const { service, role: name } = found.ref;
  const role = rows.find((row) => row.cloudService === service && row.name === name);
  if (role === undefined) throw new DomainError('not_found', 'role_instance_unknown');
  requireAlive(model);
  if (role.state === 'deleting') throw new DomainError('conflict', 'role_dying');
  return { model, role };
}

/** Reads the roles of the cloud service that an instance id begins with. */
const findRows = (tx: Transaction, instance: string) =>
  tx
    .select({ role: vmRoles, model: models.name })
    .from(vmRoles)
    .innerJoin(models, eq(models.id, vmRoles.modelId))
    .where(inArray(vmRoles.cloudService, [instance, instance.slice(0, Math.max(0, instance.lastIndexOf('-')))]));
