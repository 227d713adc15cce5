import { and, eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { vmRoles } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { createInstance } from './create-instance.ts';
import { markRole } from './discard-role.ts';
import { type AddMachineInput, addMachineInput, type RemoveMachineInput, removeMachineInput } from './input.ts';
import { localFabric } from './local-fabric.ts';
import { type NewMachine, showNewMachine } from './machine-view.ts';
import { lockModel, type ModelRow, requireBootstrapped, updateModel } from './model-rows.ts';
import type { CloudProvider } from './provider.ts';

/**
 * Adds a machine to a model without availability sets. Throws 404 `model_unknown`, 409 `model_dying` |
 * `model_not_bootstrapped` | `machine_placement_unsupported` | `machine_removed`, 503 `provider_failed` | `cloud_service_name_exhausted`.
 */
export async function addMachine(
  ctx: Context,
  input: AddMachineInput,
  provider: CloudProvider = localFabric(ctx),
): Promise<NewMachine> {
  allow(ctx.actor, 'operator');
  const { model: name, ifMatch } = parse(addMachineInput, input);
  const model = await ctx.db.transaction(async (tx) => {
    const locked = await lockModel(tx, name, ifMatch);
    requireBootstrapped(locked);
    return locked;
  });
  const created = await createInstance(ctx, provider, model, { kind: 'machine' });
  const added = showNewMachine(ctx, created);
  await ctx.db.transaction(async (tx) => {
    const { machine, instanceId, vm } = added;
    await recordAudit(tx, ctx, {
      action: 'machine.add',
      target: { kind: 'model', id: name },
      vmId: added.vmId,
      after: { machine, instanceId, vm },
      details: { machine: vm },
    });
  });
  return added;
}

/**
 * Removes a machine. Its extensions are uninstalled first, unless `force` is set; then the repair deletes its VM, its
 * role and, with the last role, its cloud service. `beforeRemoval` is what a later module does first in the same
 * transaction, and it may reject the removal. Throws 404 `model_unknown` | `machine_unknown`.
 */
export async function removeMachine(
  ctx: Context,
  input: RemoveMachineInput,
  beforeRemoval: (tx: Transaction, machine: { vmId: string; force: boolean }) => Promise<void> = async () => {},
): Promise<void> {
  allow(ctx.actor, 'operator');
  const { model: name, ifMatch, machine, force } = parse(removeMachineInput, input);
  await ctx.db.transaction(async (tx) => {
    const model = await lockModel(tx, name, ifMatch);
    await removeMachineIn(tx, ctx, model, { machine, force }, beforeRemoval);
  });
}

/** Removes a machine of a locked model, as `removeMachine` does. Throws 404 `machine_unknown`. */
export async function removeMachineIn(
  tx: Transaction,
  ctx: Context,
  model: ModelRow,
  { machine, force }: { machine: number; force: boolean },
  beforeRemoval: (tx: Transaction, machine: { vmId: string; force: boolean }) => Promise<void> = async () => {},
): Promise<void> {
  const [role] = await tx
    .select()
    .from(vmRoles)
    .where(and(eq(vmRoles.modelId, model.id), eq(vmRoles.machine, machine)));
  if (role === undefined) throw new DomainError('not_found', 'machine_unknown');
  if (role.state === 'deleting' && (role.forced || !force)) return;
  await beforeRemoval(tx, { vmId: role.vmId, force });
  await markRole(tx, ctx, role.vmId, force);
  await recordAudit(tx, ctx, {
    action: role.adopted ? 'machine.give-back' : 'machine.remove',
    target: { kind: 'model', id: model.name },
    vmId: role.vmId,
    details: { machine: role.hostname, force },
  });
  await updateModel(tx, model);
}
