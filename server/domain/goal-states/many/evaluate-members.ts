import type { Transaction } from '#db/client.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { type DeclaredVm, loadDeclaredVms, loadVersions, type VersionLookup } from '../declared-vm.ts';
import { evaluateChange, type VmChange } from '../evaluate.ts';
import type { Evaluation, ExtensionMove } from '../move.ts';
import type { ExtensionRow, LiveHead } from '../publish.ts';
import type { MemberRequest } from './change.ts';
import { changedSince, type PublishedBy, publishersAt, wasDelivered } from './changed-since.ts';
import { checkTargets, type SettingsMemory } from './check-targets.ts';
import { loadEarlierContents } from './earlier-contents.ts';
import { type Translated, translate } from './translate.ts';

/** What a change would do to a VM, or why it does nothing. */
export type MemberEvaluation =
  | { outcome: 'change'; vm: DeclaredVm; versions: VersionLookup; evaluation: Evaluation; isChecked: boolean }
  | { outcome: 'unchanged' }
  | { outcome: 'delivered' }
  | { outcome: 'refused'; code: string }
  | ({ outcome: 'overtaken' } & PublishedBy);

/**
 * Loads the declarations of VMs and evaluates the requested change of each. The number of statements does not depend on
 * the number of VMs.
 */
export async function evaluateMembers(
  tx: Transaction,
  ctx: Context,
  heads: readonly LiveHead[],
  requests: ReadonlyMap<string, MemberRequest>,
  memory: SettingsMemory,
): Promise<Map<string, MemberEvaluation>> {
  if (heads.length === 0) return new Map();
  const wanted = heads.flatMap(({ vmId }) => requests.get(vmId) ?? []);
  const earlier = await loadEarlierContents(tx, wanted);
  const secretIds = [...earlier.values()].flat().flatMap(({ secretId }) => secretId ?? []);
  const members = (await loadDeclaredVms(tx, heads, secretIds)).flatMap((vm) => {
    const request = requests.get(vm.head.vmId);
    return request ? [{ vm, request, translated: translate(vm, request.change, earlier) }] : [];
  });
  const versions = await loadVersions(
    tx,
    members.flatMap(({ vm, translated }) => [...vm.present, ...goalsOf(translated)]),
  );
  const changed = members.flatMap(({ vm, request }): [string, Date | 'unknown'][] => {
    const since = changedSince(vm, request.change);
    return since === null ? [] : [[vm.head.vmId, since === 'unknown' ? since : since.at]];
  });
  const publishers = await publishersAt(tx, new Map(changed));
  const evaluations = new Map<string, MemberEvaluation>();
  for (const { vm, request, translated } of members) {
    const since = changedSince(vm, request.change);
    const publisher = publishers.get(vm.head.vmId);
    const by = since === 'unknown' ? publisher : since && { action: publisher?.action ?? 'extension.set', ...since };
    if (by) evaluations.set(vm.head.vmId, { outcome: 'overtaken', ...by });
    else if (wasDelivered(vm, request.change)) evaluations.set(vm.head.vmId, { outcome: 'delivered' });
    else evaluations.set(vm.head.vmId, await evaluateMember(ctx, vm, versions, translated, memory));
  }
  return evaluations;
}

async function evaluateMember(
  ctx: Context,
  vm: DeclaredVm,
  versions: VersionLookup,
  translated: Translated,
  memory: SettingsMemory,
): Promise<MemberEvaluation> {
  if (translated.kind === 'unchanged') return { outcome: 'unchanged' };
  if (translated.kind === 'unknown') return { outcome: 'refused', code: 'goal_state_unknown' };
  const { changes, isChecked } = await changesOf(ctx, vm, versions, translated, memory);
  const evaluation = foreseen(() => evaluateInTurn(ctx, vm, versions, changes));
  if (evaluation instanceof DomainError) {
    return { outcome: 'refused', code: evaluation.faults[0]?.code ?? evaluation.code };
  }
  const { moves, faults } = evaluation;
  // A VM that already has the requested declaration is not rejected, even if it could not be declared now.
  if (moves.length > 0 && moves.every(({ effect }) => effect === 'none')) return { outcome: 'unchanged' };
  const [fault] = faults;
  if (fault) return { outcome: 'refused', code: fault.code };
  if (moves.length === 0) return { outcome: 'unchanged' };
  return { outcome: 'change', vm, versions, evaluation, isChecked };
}

/** Returns the result, or the expected error that was thrown. */
function foreseen<Result>(run: () => Result): Result | DomainError {
  try {
    return run();
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
}

async function changesOf(
  ctx: Context,
  vm: DeclaredVm,
  versions: VersionLookup,
  translated: Extract<Translated, { kind: 'targets' | 'changes' }>,
  memory: SettingsMemory,
): Promise<{ changes: VmChange[]; isChecked: boolean }> {
  if (translated.kind === 'changes') return { changes: translated.changes, isChecked: true };
  const { targets, isChecked } = await checkTargets(ctx, vm, versions, translated.targets, memory);
  return { changes: [{ kind: 'set', targets, compares: false }], isChecked };
}

/** Evaluates changes to one VM one after the other, for one goal state. */
function evaluateInTurn(
  ctx: Context,
  vm: DeclaredVm,
  versions: VersionLookup,
  changes: readonly VmChange[],
): Evaluation {
  let { present } = vm;
  let result: Evaluation | undefined;
  for (const change of changes) {
    const { moves, faults, isStock } = evaluateChange(ctx, { ...vm, present }, versions, change);
    present = presentAfter(present, moves);
    result = {
      present: vm.present,
      moves: [...(result?.moves ?? []), ...moves],
      faults: [...(result?.faults ?? []), ...faults],
      isStock,
    };
  }
  if (result === undefined) throw new Error('no change to evaluate');
  return result;
}

/** Returns the declared extensions after a change, as far as the next change to the same VM depends on them. */
function presentAfter(present: readonly ExtensionRow[], moves: readonly ExtensionMove[]): ExtensionRow[] {
  return present.flatMap((row) => {
    const move = moves.find(({ name }) => name === row.name);
    if (move === undefined) return [row];
    return move.after === null ? [] : [{ ...row, ...move.after }];
  });
}

function goalsOf(translated: Translated): { handler: string; version: string }[] {
  if (translated.kind === 'targets') return translated.targets.map(({ goal }) => goal);
  if (translated.kind !== 'changes') return [];
  return translated.changes.flatMap((change) => (change.kind === 'revert' ? [...change.contents] : []));
}
