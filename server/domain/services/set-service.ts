import { and, count as countRows, desc, eq, isNull } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { serviceSettings, services, units } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import {
  type CloudProvider,
  findMachine,
  localFabric,
  lockModel,
  type ModelRow,
  readModel,
  requireBootstrapped,
  updateModel,
} from '#server/domain/topology/index.ts';
import { changeService, numberAtOnce } from './change-service.ts';
import { type SetServiceInput, serviceLimits, setServiceInput } from './input.ts';
import { isStillValid, type PreparedService, prepareService, type ServiceRequest } from './prepare-service.ts';
import { setPeerRelations } from './relations/index.ts';
import { findService, requireLiving, type ServiceRow } from './service-rows.ts';
import { type Service, showService } from './service-view.ts';
import { livingInProduction } from './staging/slot.ts';
import { requireRoom as requireUnitRoom } from './units/insert-unit.ts';
import { dismissUnits } from './units/leave.ts';
import { type NewUnit, placeUnits } from './units/place-units.ts';

/** A service after a declaration, with the units that it added. */
export type DeclaredService = Service & { newUnits: NewUnit[] };

/**
 * Declares a service: deploys it with its units, or changes it. An identical request changes nothing. Settings and the
 * formula's version reach units that have started one after the other (EN-56). Throws 404 `model_unknown` |
 * `version_unknown`, 409 `model_dying` | `model_not_bootstrapped` | `service_dying` | `service_exists` |
 * `service_formula_fixed` | `services_too_many`, 412 `model_changed`, 422 with every fault of the settings by path,
 * and the errors of `placeUnits`.
 */
export async function setService(
  ctx: Context,
  input: SetServiceInput,
  provider: CloudProvider = localFabric(ctx),
): Promise<DeclaredService> {
  allow(ctx.actor, 'operator');
  const request = parse(setServiceInput, input);
  const { service: name, to } = request;
  const { model, missing, wanted } = await declareChecked(ctx, request);
  const newUnits = await placeUnits(ctx, provider, model, { service: name, count: missing, to, upTo: wanted });
  return { ...(await showService(ctx, model, name)), newUnits };
}

/** A declaration that was stored. `missing`: how many of the `wanted` units the service lacks. */
interface Declared {
  model: ModelRow;
  missing: number;
  wanted: number | undefined;
}

/** Number of times that a declaration is checked again if the service changes between the checks and the transaction. */
const maxChecks = 5;

async function declareChecked(ctx: Context, request: ServiceRequest): Promise<Declared> {
  for (let checks = 1; checks < maxChecks; checks += 1) {
    const prepared = await prepareService(ctx, request);
    const declared = await ctx.db.transaction((tx) => declare(tx, ctx, request, prepared));
    if (declared !== null) return declared;
  }
  const { revision } = await readModel(ctx.db, request.model);
  throw new DomainError('precondition_failed', 'model_changed', { params: { revision } });
}

/** Stores a declaration. Returns null if the service changed since the checks. */
async function declare(
  tx: Transaction,
  ctx: Context,
  request: ServiceRequest,
  prepared: PreparedService,
): Promise<Declared | null> {
  const model = await lockModel(tx, request.model, request.ifMatch);
  requireBootstrapped(model);
  const vmId = request.to === undefined ? null : await findMachine(tx, model, request.to);
  const current = await findService(tx, model.id, request.service);
  if (!isStillValid(prepared, current)) return null;
  if (current !== undefined) requireLiving(current);
  const row =
    current === undefined
      ? await deployService(tx, ctx, model, request, prepared)
      : await changeService(tx, ctx, model, current, request, prepared);
  const wanted = request.units ?? (current === undefined ? 1 : undefined);
  const missing = wanted === undefined ? 0 : await scale(tx, ctx, row, { wanted, vmId, model });
  return { model, wanted, missing };
}

/** Deploys a service of a locked model, without units. Throws 409 `services_too_many`. */
export async function deployService(
  tx: Transaction,
  ctx: Context,
  model: ModelRow,
  request: ServiceRequest,
  { serviceId: id, formula, settings }: PreparedService,
): Promise<ServiceRow> {
  await requireRoom(tx, model);
  const { id: modelId } = model;
  const { service: name, exposed = false, timeouts = {}, upgrade, configure } = request;
  const [row] = await tx
    .insert(services)
    .values({
      ...{ id, modelId, name, life: 'alive', formula: formula.handler, formulaVersion: formula.version },
      ...{ settingsVersion: settings.version, exposed, timeouts },
      ...{ atOnceUpgrade: numberAtOnce(upgrade, 1), atOnceConfigure: numberAtOnce(configure, 1) },
      ...{ createdAt: ctx.now, createdBy: ctx.actor.name },
    })
    .returning();
  if (row === undefined) throw new Error('the service was not stored');
  await tx.insert(serviceSettings).values(settings);
  await setPeerRelations(tx, ctx, row, formula.manifest);
  await recordAudit(tx, ctx, {
    action: 'service.deploy',
    target: { kind: 'model', id: model.name },
    after: {
      ...{ service: name, formula: formula.handler, version: formula.version, exposed, settings: settings.given },
      hasProtectedSettings: settings.secret !== null,
    },
    details: { service: name, formula: formula.handler, version: formula.version },
  });
  await updateModel(tx, model);
  return row;
}

async function requireRoom(tx: Transaction, { id }: ModelRow): Promise<void> {
  const [counted] = await tx
    .select({ all: countRows() })
    .from(services)
    .where(and(eq(services.modelId, id), isNull(services.removedAt)));
  const { services: limit } = serviceLimits;
  if ((counted?.all ?? 0) >= limit) throw new DomainError('conflict', 'services_too_many', { params: { limit } });
}

/**
 * Returns how many units a service lacks in Production. If it has too many, those with the highest numbers begin to
 * leave. Units that already leave do not count.
 */
async function scale(
  tx: Transaction,
  ctx: Context,
  { id }: ServiceRow,
  { wanted, vmId, model }: { wanted: number; vmId: string | null; model: ModelRow },
): Promise<number> {
  const present = await tx.select().from(units).where(livingInProduction(model, id)).orderBy(desc(units.number));
  const surplus = present.length - wanted;
  if (surplus <= 0) {
    await requireUnits(tx, { serviceId: id, vmId }, -surplus);
    return -surplus;
  }
  await dismissUnits(tx, ctx, present.slice(0, surplus), false);
  return 0;
}

async function requireUnits(
  tx: Transaction,
  place: { serviceId: string; vmId: string | null },
  more: number,
): Promise<void> {
  const { unitsAtOnce: limit } = serviceLimits;
  if (more > limit) throw new DomainError('conflict', 'units_at_once', { params: { limit } });
  await requireUnitRoom(tx, place, more);
}
