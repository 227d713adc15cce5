import type { Transaction } from '#db/client.ts';
import type { Context } from '#server/domain/context.ts';
import { type DeclaredVm, loadDeclaredVms, loadVersions, type VersionLookup } from './declared-vm.ts';
import { evaluateDeclaration } from './evaluate-declaration.ts';
import { evaluateRemoval } from './evaluate-removal.ts';
import { evaluateRetry } from './evaluate-retry.ts';
import { evaluateRevert, type Reversion } from './evaluate-revert.ts';
import type { Evaluation } from './move.ts';
import type { LiveHead } from './publish.ts';
import type { DeclarationTarget } from './resolve-targets.ts';

/** A change to the declarations of a VM. */
export type VmChange =
  | { kind: 'set'; targets: readonly DeclarationTarget[]; compares: boolean }
  | { kind: 'remove'; name: string; force: boolean }
  | { kind: 'retry'; name: string; seen: number | undefined }
  | ({ kind: 'revert' } & Reversion);

/**
 * Returns the effect of a change on a VM, and every reason to reject it. No other function decides this: planning and
 * applying a change both call it, so a change does what its plan says. Throws the errors of the kind of change.
 */
export function evaluateChange(
  ctx: Pick<Context, 'keys' | 'config'>,
  vm: DeclaredVm,
  versions: VersionLookup,
  change: VmChange,
): Evaluation {
  switch (change.kind) {
    case 'set':
      return evaluateDeclaration(ctx, vm, versions, change);
    case 'remove':
      return evaluateRemoval(vm, change);
    case 'retry':
      return evaluateRetry(vm, versions, change);
    case 'revert':
      return evaluateRevert(vm, versions, change);
  }
}

/** Loads what decides the effect of a change to one VM, in the caller's transaction, and evaluates the change. */
export async function evaluateVm(tx: Transaction, ctx: Context, head: LiveHead, change: VmChange): Promise<Evaluation> {
  const earlier = change.kind === 'revert' ? change.contents.flatMap(({ secretId }) => secretId ?? []) : [];
  const [vm] = await loadDeclaredVms(tx, [head], earlier);
  if (!vm) throw new Error('the VM was not loaded');
  // Read in this transaction, because a version may have been withdrawn since the request was checked.
  const versions = await loadVersions(tx, goalsOf(vm, change));
  return evaluateChange(ctx, vm, versions, change);
}

/** Returns the declarations whose versions decide the effect of a change. */
function goalsOf({ present }: DeclaredVm, change: VmChange): { handler: string; version: string }[] {
  switch (change.kind) {
    case 'set':
      return change.targets.map(({ goal }) => goal);
    case 'retry':
      return present.filter(({ name }) => name === change.name);
    case 'revert':
      return [...change.contents];
    case 'remove':
      return [];
  }
}
