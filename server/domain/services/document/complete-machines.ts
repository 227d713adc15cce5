import type { Context } from '#server/domain/context.ts';
import {
  type CloudProvider,
  type CreatedInstance,
  completeInstance,
  type ModelRow,
  type NewMachine,
  type Reservation,
  showNewMachine,
} from '#server/domain/topology/index.ts';
import { type NewUnit, placeUnits } from '../units/place-units.ts';
import { removeUnitsIn } from '../units/remove-units.ts';
import type { Reserved } from './change-model.ts';

/** What an apply created. */
interface Completed {
  newMachines: NewMachine[];
  newUnits: NewUnit[];
}

/**
 * Has the provider create the machines that a transaction reserved. If it fails for one, nothing of that machine and
 * its units remains, and the others are created anyway. Throws the first failure at the end.
 */
export async function completeMachines(
  ctx: Context,
  provider: CloudProvider,
  { model, machines, units }: Reserved & { model: ModelRow },
): Promise<Completed> {
  const done: Completed = { newMachines: [], newUnits: [] };
  const failures: unknown[] = [];
  const complete = async (reserved: Reservation, unitIds: readonly string[]): Promise<CreatedInstance | null> => {
    try {
      const created = await completeInstance(ctx, provider, model, reserved);
      if (created !== null) return created;
    } catch (error) {
      failures.push(error);
    }
    await ctx.db.transaction((tx) => removeUnitsIn(tx, ctx, unitIds));
    return null;
  };
  const lost = new Set<string>();
  for (const reserved of machines) {
    const own = units.filter(({ unit }) => unit.vmId === reserved.vm.id).map(({ unit }) => unit.id);
    const created = await complete(reserved, own);
    if (created !== null) done.newMachines.push(showNewMachine(ctx, created));
    else for (const id of own) lost.add(id);
  }
  for (const { unit, service, slot, machine } of units) {
    if (lost.has(unit.id)) continue;
    const created = machine === null ? null : await complete(machine, [unit.id]);
    if (created !== null) done.newUnits.push({ unit: unit.name, machine: showNewMachine(ctx, created) });
    else if (machine === null) done.newUnits.push({ unit: unit.name, machine: null });
    else if (failures.length === 0)
      done.newUnits.push(...(await placeUnits(ctx, provider, model, { service, slot, count: 1 })));
  }
  if (failures.length > 0) throw failures[0];
  return done;
}
