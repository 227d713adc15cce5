import { secretStateOf } from '../custody.ts';
import { type DeclaredVm, secretOf, type VersionLookup } from '../declared-vm.ts';
import { packageKey } from '../goal-state.ts';
import type { Evaluation, ExtensionMove } from '../move.ts';
import { restartsVm } from '../plan.ts';
import { stepsOfAll } from '../plan-steps.ts';
import type { MemberChange, Preview } from './change.ts';
import type { MemberEvaluation } from './evaluate-members.ts';
import { effectiveMoves, kindOf } from './kind-of.ts';

/** Returns what a plan says about a change to a VM. */
export function previewOf(change: MemberChange, evaluated: MemberEvaluation): Preview {
  if (evaluated.outcome === 'overtaken') return { outcome: 'refused', code: 'extension_moved_on' };
  if (evaluated.outcome === 'delivered') return { outcome: 'unchanged' };
  if (evaluated.outcome !== 'change') return evaluated;
  const { vm, versions, evaluation } = evaluated;
  const moves = effectiveMoves(evaluation);
  return {
    outcome: 'change',
    kind: kindOf(change, evaluation),
    touched: moves.map(({ name, current, after }) => ({
      name,
      before: current?.version ?? null,
      version: after?.version ?? null,
    })),
    bytes: bytesOf(moves),
    restarts: moves.some(restartsVm),
    seconds: secondsOf(evaluation),
    notRevertible: revertObstacle(vm, versions, moves),
    needsRelease: moves.some((move) => needsRelease(vm, move)),
  };
}

function secondsOf({ moves, present, isStock }: Evaluation): number {
  return stepsOfAll(moves, present, isStock).reduce((sum, { seconds }) => sum + seconds, 0);
}

/** Returns the bytes of the packages that the machine does not have yet. Extensions of a handler share a package. */
function bytesOf(moves: readonly ExtensionMove[]): number {
  const packages = new Map<string, number>();
  for (const { current, after, version } of moves) {
    if (!after || after.state === 'uninstall' || !version) continue;
    if (current?.everDelivered && current.version === after.version) continue;
    packages.set(packageKey(version.handler, version.version), version.size);
  }
  return [...packages.values()].reduce((sum, size) => sum + size, 0);
}

/** Returns why the declarations before the change could not be declared again; null if they could. */
function revertObstacle(
  { head, secrets }: DeclaredVm,
  versions: VersionLookup,
  moves: readonly ExtensionMove[],
): 'version_withdrawn' | 'secrets_required' | null {
  const leavesWithdrawn = moves.some(({ current, after }) => {
    if (!current || versions(current)?.state !== 'withdrawn') return false;
    return after === null || after.state === 'uninstall' || after.version !== current.version;
  });
  if (leavesWithdrawn) return 'version_withdrawn';
  const losesSecrets = moves.some(({ current }) => {
    const secret = secretOf(secrets, current?.secretId ?? null);
    return secret !== null && secretStateOf(secret, head) === 'needsSecrets';
  });
  return losesSecrets ? 'secrets_required' : null;
}

function needsRelease({ head, secrets }: DeclaredVm, { after }: ExtensionMove): boolean {
  const secret = secretOf(secrets, after?.secretId ?? null);
  return secret !== null && secretStateOf(secret, head) === 'needsRelease';
}
