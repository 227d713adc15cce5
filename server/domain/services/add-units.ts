import { z } from 'zod';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import {
  type CloudProvider,
  findMachine,
  localFabric,
  lockModel,
  newMachine,
  requireBootstrapped,
} from '#server/domain/topology/index.ts';
import { type AddUnitsInput, addUnitsInput } from './input.ts';
import { requireLiving, requireService } from './service-rows.ts';
import { requireRoom } from './units/insert-unit.ts';
import { type NewUnit, placeUnits } from './units/place-units.ts';

/** A unit that was added, as the API returns it. */
export const newUnit = z
  .object({
    unit: z.string().describe('`<service>/<number>`.'),
    machine: newMachine.nullable().describe('The new machine, to be enrolled; null if the machine existed.'),
  })
  .meta({ id: 'NewUnit' });

/**
 * Adds units to a service: each on the chosen machine, or on a new one, placed with the service's other units. Throws
 * 404 `model_unknown` | `service_unknown`, 409 `model_dying` | `model_not_bootstrapped` | `service_dying`, 412
 * `model_changed`, and the errors of `placeUnits`.
 */
export async function addUnits(
  ctx: Context,
  input: AddUnitsInput,
  provider: CloudProvider = localFabric(ctx),
): Promise<{ units: NewUnit[] }> {
  allow(ctx.actor, 'operator');
  const { model: name, service, count, to, ifMatch } = parse(addUnitsInput, input);
  const model = await ctx.db.transaction(async (tx) => {
    const locked = await lockModel(tx, name, ifMatch);
    requireBootstrapped(locked);
    const row = await requireService(tx, locked.id, service);
    requireLiving(row);
    const vmId = to === undefined ? null : await findMachine(tx, locked, to);
    await requireRoom(tx, { serviceId: row.id, vmId }, count);
    return locked;
  });
  return { units: await placeUnits(ctx, provider, model, { service, count, to }) };
}
