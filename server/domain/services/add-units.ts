import { z } from 'zod';
import type { Transaction } from '#db/client.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError, type Fault } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import {
  type CloudProvider,
  findMachine,
  localFabric,
  lockModel,
  type ModelRow,
  newMachine,
  readModel,
  requireBootstrapped,
} from '#server/domain/topology/index.ts';
import { type AddUnitsInput, addUnitsInput } from './input.ts';
import { isStillValid } from './prepare-service.ts';
import { findService, requireLiving, requireService, type ServiceRow } from './service-rows.ts';
import { prepareStaging, stageVersion } from './staging/stage-version.ts';
import type { StagedTarget } from './staging/staged-target.ts';
import { requireRoom } from './units/insert-unit.ts';
import { type NewUnit, placeUnits } from './units/place-units.ts';

/** Number of times that a request is checked again if the service changes meanwhile. */
const maxChecks = 5;

/** A unit that was added, as the API returns it. */
export const newUnit = z
  .object({
    unit: z.string().describe('`<service>/<number>`.'),
    machine: newMachine.nullable().describe('The new machine, to be enrolled; null if the machine existed.'),
  })
  .meta({ id: 'NewUnit' });

/**
 * Adds units to a service: each on the chosen machine, or on a new one, placed with the service's other units. With
 * `slot` `staging`, new machines are in the Staging deployment, so neither the public address nor units that require
 * the service lead to them before a swap. Throws 404 `model_unknown` | `service_unknown`, 409 `model_dying` |
 * `model_not_bootstrapped` | `service_dying`, 412
 * `model_changed`, and the errors of `placeUnits`.
 */
export async function addUnits(
  ctx: Context,
  input: AddUnitsInput,
  provider: CloudProvider = localFabric(ctx),
): Promise<{ units: NewUnit[] }> {
  allow(ctx.actor, 'operator');
  const request = parse(addUnitsInput, input);
  requireFit(request);
  const { service, count, to, slot } = request;
  const model = await declareChecked(ctx, request);
  return { units: await placeUnits(ctx, provider, model, { service, count, to, slot }) };
}

type UnitsRequest = z.output<typeof addUnitsInput>;

/** Rejects what only units in Staging can have, and vice versa. */
function requireFit({ slot, to, version }: UnitsRequest): void {
  const isStaged = slot === 'staging';
  const faults: Fault[] = [
    ...(version !== undefined && !isStaged ? [{ path: '/version', code: 'staged_version_only' as const }] : []),
    ...(to !== undefined && isStaged ? [{ path: '/to', code: 'staged_unit_placement' as const }] : []),
  ];
  if (faults.length > 0) throw new DomainError('unprocessable', 'invalid', { faults });
}

/** Checks a request and stores the version of staged units. Checks again if the service changes meanwhile. */
async function declareChecked(ctx: Context, request: UnitsRequest): Promise<ModelRow> {
  const { model: name, service } = request;
  for (let checks = 0; checks < maxChecks; checks += 1) {
    const { id, revision } = await readModel(ctx.db, name);
    const checked = await findService(ctx.db, id, service);
    const isStaged = request.slot === 'staging' && checked !== undefined && checked.life === 'alive';
    const staged = isStaged ? await prepareStaging(ctx, checked, request.version) : undefined;
    const declared = await ctx.db.transaction((tx) => declare(tx, ctx, request, { checked, staged }));
    if (declared !== null) return declared;
    if (checks === maxChecks - 1)
      throw new DomainError('precondition_failed', 'model_changed', { params: { revision } });
  }
  throw new Error('a request is checked at least once');
}

async function declare(
  tx: Transaction,
  ctx: Context,
  { model: name, service, count, to, slot, ifMatch }: UnitsRequest,
  { checked, staged }: { checked: ServiceRow | undefined; staged: StagedTarget | null | undefined },
): Promise<ModelRow | null> {
  const locked = await lockModel(tx, name, ifMatch);
  requireBootstrapped(locked);
  if (slot === 'staging' && !locked.availabilitySetsEnabled) throw new DomainError('conflict', 'staging_unsupported');
  const row = await requireService(tx, locked.id, service);
  requireLiving(row);
  if (staged !== undefined && !isStillValid({ current: checked }, row)) return null;
  const vmId = to === undefined ? null : await findMachine(tx, locked, to);
  await requireRoom(tx, { serviceId: row.id, vmId }, count);
  if (staged !== undefined) await stageVersion(tx, ctx, locked, row, staged);
  return locked;
}
