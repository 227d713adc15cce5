import { eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { units } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError, type Fault } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { readPlace, requireAlive } from '#server/domain/topology/index.ts';
import { isStillValid, type PreparedService } from '../prepare-service.ts';
import { readUnitWork } from '../runs/read-due.ts';
import { type PlanDocumentInput, planDocumentInput } from './input.ts';
import { at, type Desired, type ModelPlan } from './model-plan.ts';
import { planHooks, type WorkOfUnits } from './plan-hooks.ts';
import { planModel } from './plan-model.ts';
import type { DocumentPlan } from './plan-view.ts';
import { prepareDocument } from './prepare-document.ts';
import { type ModelState, readState } from './read-state.ts';
import { type ModelDocument, modelDocument } from './schema.ts';
import { showPlan } from './show-plan.ts';
import { readDocumentText } from './text.ts';

/** Maximum number of faults in a response. */
const maxFaults = 200;
/** How often a document is checked again because the model changed meanwhile. */
const maxChecks = 5;

const snapshot = { isolationLevel: 'repeatable read', accessMode: 'read only' } as const;

/** A document that was read, and the model that it is for. */
export interface GivenDocument {
  document: ModelDocument;
  prune: boolean;
}

/**
 * Returns what applying a document to a model would do, by the code that does it. Nothing is written. Throws 409
 * `model_dying` | `model_bootstrapping`, 422 with every fault of the document by path.
 */
export async function planDocument(ctx: Context, input: PlanDocumentInput): Promise<DocumentPlan> {
  allow(ctx.actor, 'operator');
  const { model, prune, document } = parse(planDocumentInput, input);
  const given = { document: readDocument(ctx, model, document), prune };
  return withChecked(ctx, given, (checked) =>
    ctx.db.transaction(async (tx) => {
      const planned = await planIn(tx, given, checked);
      if (planned === null) return null;
      const { state, desired, plan } = planned;
      const work = state === null ? new Map() : await readWork(tx, state);
      return { ...showPlan(ctx, state, desired, plan), hooks: planHooks(state, desired, plan, work) };
    }, snapshot),
  );
}

/** Reads a document for a model. Throws 422 with every fault. */
export function readDocument({ config }: Context, model: string, given: unknown): ModelDocument {
  const isText = typeof given === 'string' || given instanceof Uint8Array;
  const value = isText ? readDocumentText(Buffer.from(given as string), config.limits.jsonDepth) : given;
  const document = parseDocument(value);
  if (document.model !== model) rejectDocument([{ path: at('model'), code: 'document_other_model' }]);
  return document;
}

function parseDocument(value: unknown): ModelDocument {
  try {
    return parse(modelDocument, value);
  } catch (error) {
    if (error instanceof DomainError && error.faults.length > 0) rejectDocument(error.faults);
    throw error;
  }
}

/** Rejects a document. Of very many faults, only the first are listed. */
export function rejectDocument(faults: readonly Fault[]): never {
  throw new DomainError('unprocessable', 'document_invalid', {
    ...{ params: { count: faults.length }, faults: faults.slice(0, maxFaults) },
  });
}

/** The services of a document after their checks. */
export interface CheckedDocument {
  services: ReadonlyMap<string, PreparedService>;
  faults: readonly Fault[];
}

/**
 * Checks the services of a document, and calls `act`, which returns null if a service changed since. Then they are
 * checked again. Throws 412 `plan_moved_on` if the model keeps changing.
 */
export async function withChecked<T>(
  ctx: Context,
  given: GivenDocument,
  act: (checked: CheckedDocument) => Promise<T | null>,
): Promise<T> {
  for (let checks = 0; checks < maxChecks; checks += 1) {
    const state = await ctx.db.transaction((tx) => readState(tx, given.document.model), snapshot);
    const result = await act(await prepareDocument(ctx, { ...given, state }));
    if (result !== null) return result;
  }
  throw new DomainError('precondition_failed', 'plan_moved_on');
}

/** A plan with what it was planned from. */
export interface PlannedDocument {
  state: ModelState | null;
  desired: Desired;
  plan: ModelPlan;
}

/**
 * Plans a document from the model as it is in a transaction. Returns null if a service changed since it was checked.
 * Throws 409 `model_dying` | `model_bootstrapping`, 422 with every fault.
 */
export async function planIn(
  tx: Transaction,
  { document, prune }: GivenDocument,
  { services, faults }: CheckedDocument,
): Promise<PlannedDocument | null> {
  const { model: name, storageAccount } = document;
  const state = await readState(tx, name);
  if (state !== null) {
    requireAlive(state.model);
    if (state.model.bootstrappedAt === null && state.model.leaseUntil !== null)
      throw new DomainError('conflict', 'model_bootstrapping');
  }
  const isValid = [...services].every(([service, one]) => isStillValid(one, state?.services.get(service)?.row));
  if (!isValid) return null;
  const place = await readPlace(tx, { name, storageAccount });
  const desired = { document, prune, prepared: services, place };
  const plan = planModel(state, desired);
  const all = [...faults, ...plan.faults];
  if (all.length > 0) rejectDocument(all);
  return { state, desired, plan };
}

/** Reads goals and records of the units of a model. Units that do not leave have the goal of their service. */
async function readWork(tx: Transaction, { model, services, units: all }: ModelState): Promise<WorkOfUnits> {
  const work = await readUnitWork(tx, eq(units.modelId, model.id));
  const known = new Map(all.map((unit) => [unit.name, unit]));
  return new Map(
    work.map(({ unit, goal, record }) => {
      const state = known.get(unit.name);
      const service = services.get(state?.service ?? '');
      const hasOther = state?.isStaged && service?.row.stagedVersion !== null;
      if (service === undefined || hasOther || goal.goal === 'leaving') return [unit.name, { goal, record }];
      const { formulaVersion: version, settingsVersion } = service.row;
      const formula = { version, hooks: service.manifest.hooks };
      return [unit.name, { goal: { ...goal, formula, settingsVersion }, record }];
    }),
  );
}
