import { compareVersions } from '#protocol/index.ts';
import type { MemberKind } from '#server/domain/rollout-rules/words.ts';
import { differingFields } from '../differing-fields.ts';
import type { Evaluation, ExtensionMove } from '../move.ts';
import { contentsOf } from '../publish.ts';
import type { MemberChange } from './change.ts';

/** The extensions' changes that are written. */
export const effectiveMoves = ({ moves }: Evaluation): ExtensionMove[] =>
  moves.filter(({ effect }) => effect !== 'none');

/** Returns what a change does to a VM. If several words apply to new declarations, the first one in the list wins. */
export function kindOf(change: MemberChange, evaluation: Evaluation): MemberKind {
  if (change.kind === 'restore') return 'revert';
  if (change.kind === 'repeat') return 'retry';
  if (change.change.kind !== 'set') return change.change.kind;
  const kinds = effectiveMoves(evaluation).map(setKind);
  const order = ['install', 'update', 'lower', 'settings', 'state'] as const;
  return order.find((kind) => kinds.includes(kind)) ?? 'policy';
}

function setKind({ current, after, secret }: ExtensionMove): MemberKind {
  if (!current || !after) return 'install';
  const order = compareVersions(after.version, current.version);
  if (order !== 0) return order > 0 ? 'update' : 'lower';
  if (secret === 'added' || secret === 'replaced' || secret === 'removed') return 'settings';
  const fields = differingFields(contentsOf(current), after);
  if (fields.has('publicSettings')) return 'settings';
  return fields.has('state') ? 'state' : 'policy';
}
