import { z } from 'zod';
import type { Transaction } from '#db/client.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import {
  bootstrapModel,
  type CloudProvider,
  createModel,
  localFabric,
  lockModel,
  type NewMachine,
  newMachine,
  updateModel,
} from '#server/domain/topology/index.ts';
import { sameBytes } from '#server/platform/keys.ts';
import { newUnit } from '../add-units.ts';
import { advanceUnits } from '../units/index.ts';
import type { NewUnit } from '../units/place-units.ts';
import { changeModel, type Reserved } from './change-model.ts';
import { completeMachines } from './complete-machines.ts';
import { type ApplyDocumentInput, applyDocumentInput } from './input.ts';
import { type GivenDocument, type PlannedDocument, planIn, readDocument, withChecked } from './plan-document.ts';
import { isEmpty } from './plan-model.ts';
import { type DocumentPlan, documentPlan } from './plan-view.ts';
import { showPlan } from './show-plan.ts';
import { type CreatedModel, undoCreation } from './undo-creation.ts';

/** What an apply did. */
export const appliedDocument = documentPlan
  .omit({ hooks: true, planHash: true })
  .extend({
    newMachines: z.array(newMachine).describe('New machines without units, to be enrolled.'),
    newUnits: z.array(newUnit).describe('The units that the apply added.'),
  })
  .meta({ id: 'AppliedDocument' });
export type AppliedDocument = z.infer<typeof appliedDocument>;

/**
 * Applies a document to a model: all declarations are one transaction under the model’s lock, so either all of them are
 * stored or none (JU-40). A model that does not exist is created and bootstrapped first, and destroyed again if the
 * rest fails; if it has changed meanwhile, it is kept (`document_model_kept`). The provider creates machines afterwards; if it fails for one, nothing of that machine remains, and the
 * next plan contains its unit. Throws the errors of `planDocument`, 412 `plan_moved_on`, 503 `provider_failed`.
 */
export async function applyDocument(
  ctx: Context,
  input: ApplyDocumentInput,
  provider: CloudProvider = localFabric(ctx),
): Promise<AppliedDocument> {
  allow(ctx.actor, 'operator');
  const { model, prune, document, plan: expected } = parse(applyDocumentInput, input);
  const given = { document: readDocument(ctx, model, document), prune };
  const created = await createFirst(ctx, provider, given, expected);
  try {
    const { shown, reserved } = await withChecked(ctx, given, (checked) =>
      ctx.db.transaction(async (tx) => {
        const locked = await lockModel(tx, model);
        const planned = await planIn(tx, given, checked);
        if (planned === null) return null;
        const result = requirePlan(ctx, planned, expected);
        const added = await store(tx, ctx, planned, result);
        return { shown: result, reserved: { ...added, model: locked } };
      }),
    );
    await advanceAfterwards(ctx, reserved.advancing);
    const completed = await completeMachines(ctx, provider, reserved);
    const { planHash: _, isChange: _isChange, ...rest } = shown;
    return { ...rest, ...withControllers(completed, created?.newMachines ?? []) };
  } catch (error) {
    if (created === null || keepsModel(error)) throw error;
    throw await undoCreation(ctx, created, error);
  }
}

/** Whether an error leaves a created model as it is: a machine was not created, or somebody destroys the model. */
const keepsModel = (error: unknown): boolean =>
  error instanceof DomainError && ['provider_failed', 'machine_removed', 'model_dying'].includes(error.code);

const withControllers = (
  { newMachines, newUnits }: { newMachines: NewMachine[]; newUnits: NewUnit[] },
  controllers: NewMachine[],
) => ({ newMachines: [...controllers, ...newMachines], newUnits });

/**
 * Creates and bootstraps the model of a document, if it does not exist or is not bootstrapped. Returns the created model
 * with its controllers; null if the model existed. Everything that the document contains was checked before.
 */
async function createFirst(
  ctx: Context,
  provider: CloudProvider,
  given: GivenDocument,
  expected: string | undefined,
): Promise<(CreatedModel & { newMachines: NewMachine[] }) | null> {
  const { model: name, location, storageAccount, availabilitySetsEnabled } = given.document;
  const { creates, bootstraps } = await withChecked(ctx, given, (checked) =>
    ctx.db.transaction(async (tx) => {
      const planned = await planIn(tx, given, checked);
      if (planned === null) return null;
      if (planned.plan.bootstraps !== null) requirePlan(ctx, planned, expected);
      return planned.plan;
    }),
  );
  const model = creates ? await createModel(ctx, { name, location, storageAccount, availabilitySetsEnabled }) : null;
  if (bootstraps === null) return null;
  try {
    const { newMachines, revision } = await bootstrapModel(ctx, { model: name, controllers: bootstraps }, provider);
    return model === null ? null : { name, createdAt: model.createdAt, revision, newMachines };
  } catch (error) {
    if (model === null) throw error;
    throw await undoCreation(ctx, { name, createdAt: model.createdAt, revision: null }, error);
  }
}

type ShownPlan = Omit<DocumentPlan, 'hooks'>;

/** Throws 412 `plan_moved_on` unless the effect is that of the plan that the caller saw. */
function requirePlan(
  ctx: Context,
  { state, desired, plan }: PlannedDocument,
  expected: string | undefined,
): ShownPlan & { isChange: boolean } {
  const shown = showPlan(ctx, state, desired, plan);
  if (expected !== undefined && !sameBytes(Buffer.from(expected), Buffer.from(shown.planHash)))
    throw new DomainError('precondition_failed', 'plan_moved_on');
  return { ...shown, isChange: !isEmpty(plan, desired.prune) };
}

/** Stores what a plan does, with one entry in the activity that names all of it. */
async function store(
  tx: Transaction,
  ctx: Context,
  { state, desired, plan }: PlannedDocument,
  { isChange, acts, left, prune }: ReturnType<typeof requirePlan>,
): Promise<Reserved> {
  if (state === null) throw new Error('the model was not created');
  if (!isChange) return { machines: [], units: [], advancing: [] };
  const reserved = await changeModel(tx, ctx, { model: state.model, desired, plan });
  await recordAudit(tx, ctx, {
    action: 'model.apply',
    target: { kind: 'model', id: state.model.name },
    after: { acts, ...(prune && { removed: left }) },
    details: { acts: acts.length, prune },
  });
  await updateModel(tx, state.model);
  return reserved;
}

/** Others may have waited for units that left to confirm their versions. */
async function advanceAfterwards(ctx: Context, serviceIds: readonly string[]): Promise<void> {
  for (const id of serviceIds) await ctx.db.transaction((tx) => advanceUnits(tx, ctx, id));
}
