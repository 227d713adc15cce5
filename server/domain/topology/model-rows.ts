import { and, eq, isNull, sql } from 'drizzle-orm';
import type { PgUpdateSetSource } from 'drizzle-orm/pg-core';
import type { Database, Transaction } from '#db/client.ts';
import { cloudServices, models, vmRoles } from '#db/schema/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import { DomainError } from '#server/domain/error.ts';
import type { Inventory, PlacedService } from '#server/domain/topology-rules/place.ts';

export type ModelRow = typeof models.$inferSelect;

/** Reads a model that exists. Throws 404 `model_unknown`. */
export async function readModel(db: Database | Transaction, name: string): Promise<ModelRow> {
  const [row] = await db
    .select()
    .from(models)
    .where(and(eq(models.name, name), isNull(models.removedAt)));
  if (row === undefined) throw new DomainError('not_found', 'model_unknown');
  return row;
}

/**
 * Locks a model until the commit, which orders all changes to it. Throws 404 `model_unknown` and, if the caller saw
 * another revision, 412 `model_changed`.
 */
export async function lockModel(tx: Transaction, name: string, ifMatch?: number): Promise<ModelRow> {
  const [row] = await tx
    .select()
    .from(models)
    .where(and(eq(models.name, name), isNull(models.removedAt)))
    .for('no key update');
  if (row === undefined) throw new DomainError('not_found', 'model_unknown');
  if (ifMatch !== undefined && ifMatch !== row.revision)
    throw new DomainError('precondition_failed', 'model_changed', { params: { revision: row.revision } });
  return row;
}

/** Locks a model by its id, even if it was removed. */
export async function lockModelById(tx: Transaction, id: string): Promise<ModelRow> {
  const [row] = await tx.select().from(models).where(eq(models.id, id)).for('no key update');
  if (row === undefined) throw new Error(`there is no model ${id}`);
  return row;
}

/** Rejects changes to a model that is being destroyed. */
export function requireAlive({ life }: ModelRow): void {
  if (life !== 'alive') throw new DomainError('conflict', 'model_dying');
}

/** Rejects what requires the bootstrap. */
export function requireBootstrapped(model: ModelRow): void {
  requireAlive(model);
  if (model.bootstrappedAt === null) throw new DomainError('conflict', 'model_not_bootstrapped');
}

/** Stores changes to a locked model, raises its revision, and updates open pages. */
export async function updateModel(
  tx: Transaction,
  { id, name }: Pick<ModelRow, 'id' | 'name'>,
  changes: PgUpdateSetSource<typeof models> = {},
): Promise<ModelRow> {
  const [row] = await tx
    .update(models)
    .set({ ...changes, revision: sql`${models.revision} + 1` })
    .where(eq(models.id, id))
    .returning();
  if (row === undefined) throw new Error(`there is no model ${id}`);
  await recordChange(tx, 'model', name);
  return row;
}

/** Reads what placement depends on. The caller has locked the model. */
export async function readInventory(tx: Transaction, model: ModelRow): Promise<Inventory & { controllers: string[] }> {
  const prefix = `juju-${model.name}-`;
  const named = await tx
    .select({
      name: cloudServices.name,
      modelId: cloudServices.modelId,
      label: cloudServices.label,
      state: cloudServices.state,
      goneAt: cloudServices.goneAt,
    })
    .from(cloudServices)
    .where(sql`starts_with(${cloudServices.name}, ${prefix})`);
  const roles = await tx
    .select({
      cloudService: vmRoles.cloudService,
      name: vmRoles.name,
      machine: vmRoles.machine,
      state: vmRoles.state,
      controller: vmRoles.controller,
    })
    .from(vmRoles)
    .where(eq(vmRoles.modelId, model.id));
  const rolesOf = Map.groupBy(roles, ({ cloudService }) => cloudService);
  const services = new Map<string, PlacedService>();
  for (const { name, modelId, label, state, goneAt } of named) {
    if (modelId !== model.id || goneAt !== null) continue;
    services.set(name, { label, state, roles: new Set(rolesOf.get(name)?.map((role) => role.name)) });
  }
  const names = new Set(named.map(({ name }) => name));
  return {
    model: model.name,
    availabilitySetsEnabled: model.availabilitySetsEnabled,
    services,
    machines: new Map(roles.map(({ machine, state, controller }) => [machine, { state, isController: controller }])),
    isNameTaken: (name) => names.has(name),
    controllers: roles
      .filter(({ controller, state }) => controller && state !== 'deleting')
      .map(({ cloudService, name }) => `${cloudService}-${name}`),
  };
}
