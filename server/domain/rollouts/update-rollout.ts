import type { Transaction } from '#db/client.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { actorRef } from '#server/domain/principal.ts';
import { hasSecrets } from '#server/domain/rollout-rules/run-input.ts';
import type { Definition } from '#server/domain/rollout-rules/stored.ts';
import { type RolloutState, unstartedStates } from '#server/domain/rollout-rules/words.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';
import { actOn, recordAct } from './act-on.ts';
import type { RolloutView } from './answers.ts';
import { approvalsNeeded } from './approvals.ts';
import { type UpdateRolloutInput, updateRolloutInput } from './input.ts';
import { judgeEdit, type RolloutEdit } from './judge-edit.ts';
import { recutRings } from './planning/recut-rings.ts';
import { rehashPlan, renewHash } from './planning/rehash-plan.ts';
import { type DefinitionInput, parseDefinition, type ReadDefinition } from './read-definition.ts';
import { fixedByPortal, readEdited } from './read-edited.ts';
import { noPlan } from './request-plan.ts';
import { changeRollout, readRollout, ringsOf, type StoredRollout } from './rows.ts';
import { readRules } from './rules.ts';
import { sealGiven, secretsPath } from './secrets.ts';

/**
 * Replaces the definition of a rollout. Before the start, everything can change, and the plan and its approvals become
 * invalid. From the start on, selection and change are fixed; names, notes, lower limits and windows can change at any
 * time, and gates, higher limits and boundaries of rings only while the rollout is paused. An identical definition
 * changes nothing. Throws 404 `rollout_unknown`, 409 `rollout_state` | `rollout_fixed`, 412 `rollout_moved_on`, 422
 * with every fault.
 */
export async function updateRollout(ctx: Context, input: UpdateRolloutInput): Promise<RolloutView> {
  allow(ctx.actor, 'operator');
  const { id, revision, definition: given } = parse(updateRolloutInput, input);
  const before = await readRollout(ctx.db, id).catch((error: unknown) => {
    // The faults of a request come first, whether or not the rollout exists.
    parseDefinition(ctx, given as DefinitionInput);
    throw error;
  });
  const edited = await readEdited(ctx, before, given);
  return actOn(ctx, id, 'edit', async (tx, row) => {
    if (revision !== row.revision) {
      throw new DomainError('precondition_failed', 'rollout_moved_on', { params: { revision: row.revision } });
    }
    const read = fixedByPortal(row, keepGiven(row, edited));
    if (isUnchanged(row, read)) return row;
    return isUnstarted(row.state) ? replaceDraft(tx, ctx, row, read) : editStarted(tx, ctx, row, read);
  });
}

const isUnstarted = (state: RolloutState): boolean => (unstartedStates as readonly RolloutState[]).includes(state);

/** Protected settings that were entered before are kept unless others are given, because no one can read them back. */
function keepGiven({ definition: before, sealed, state }: StoredRollout, read: ReadDefinition): ReadDefinition {
  const { definition } = read;
  const isKept =
    (sealed !== null || !isUnstarted(state)) &&
    before.change.protectedSettings === 'given' &&
    definition.change.protectedSettings === null &&
    before.change.handler === definition.change.handler &&
    definition.change.kind === 'set';
  if (!isKept) return read;
  return { ...read, definition: { ...definition, change: { ...definition.change, protectedSettings: 'given' } } };
}

/** Protected settings always count as a change, because the portal does not compare them. */
const isUnchanged = (row: StoredRollout, { name, note, definition, given }: ReadDefinition): boolean =>
  given === undefined &&
  canonicalJson([row.name, row.note, row.definition]) === canonicalJson([name, note, definition]);

async function replaceDraft(
  tx: Transaction,
  ctx: Context,
  row: StoredRollout,
  { name, note, kind, definition, given }: ReadDefinition,
): Promise<StoredRollout> {
  const { change } = definition;
  const isKept = hasSecrets(change) && given === undefined;
  const secrets =
    given === undefined ? { sealed: null, setBy: null } : await sealGiven(tx, ctx, { id: row.id, change }, given);
  const changed = await changeRollout(tx, row, {
    ...{ ...noPlan, ...(!isKept && secrets), name, note, kind, definition, handler: change.handler },
    state: 'draft',
    revision: row.revision + 1,
    // A plan that a worker is creating for the earlier definition is discarded.
    planning: row.planning + 1,
    authors: { ...row.authors, edited: actorRef(ctx.actor), planned: null },
    startAt: definition.startAt === null ? null : new Date(definition.startAt),
    startedBy: null,
    dueAt: null,
  });
  await recordAct(tx, ctx, row, 'rollout.edit', { revision: changed.revision });
  return changed;
}

async function editStarted(
  tx: Transaction,
  ctx: Context,
  row: StoredRollout,
  { name, note, definition, given }: ReadDefinition,
): Promise<StoredRollout> {
  const rings = await ringsOf(tx, row.id);
  const edit = judgeEdit(row.definition, definition, {
    isPaused: row.state === 'paused',
    opened: rings.map(({ state }) => state !== 'waiting'),
  });
  const fixed = [...edit.fixed, ...(given === undefined ? [] : [secretsPath(definition.change)])];
  if (fixed.length > 0) {
    const faults = fixed.map((path) => ({ path, code: 'rollout_fixed' as const }));
    throw new DomainError('conflict', 'rollout_fixed', { faults });
  }
  const { rules } = await readRules(tx);
  const voids = edit.needsApproval && approvalsNeeded(rules, { ...row, approvals: [] }) > 0;
  const changed = await changeRollout(tx, row, {
    ...{ name, note, definition, revision: row.revision + 1, dueAt: ctx.now },
    // The plan of a scheduled rollout is compared with the definition once more when its time comes.
    ...(row.state === 'scheduled' && (await rehashPlan(tx, ctx, row, definition))),
    ...(edit.needsApproval && (await editedPlan(tx, ctx, row, definition, edit))),
    ...(voids && { approvals: [] }),
    authors: { ...row.authors, edited: actorRef(ctx.actor), ...(voids && { approveAgain: true }) },
  });
  await recordAct(tx, ctx, row, 'rollout.edit', { revision: changed.revision, changed: edit.changed });
  return changed;
}

/** Returns the plan of a paused rollout after an edit. An approval never counts for an edit that came after it. */
async function editedPlan(
  tx: Transaction,
  ctx: Context,
  row: StoredRollout,
  definition: Definition,
  { movesMembers }: RolloutEdit,
): Promise<Partial<StoredRollout>> {
  const rings = movesMembers ? await recutRings(tx, ctx, row, definition) : null;
  const plan = row.plan && { ...row.plan, ...(rings && { rings }) };
  return renewHash(tx, ctx, { ...row, plan }, definition);
}
