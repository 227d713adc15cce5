import type { Transaction } from '#db/client.ts';
import type { Context } from '#server/domain/context.ts';
import { previewRuns, type RunOrder, type RunPreview, readRunOrder } from '#server/domain/executions/index.ts';
import {
  type MemberChange,
  type MemberRequest,
  type Preview,
  type PreviewMemory,
  previewMany,
} from '#server/domain/goal-states/index.ts';
import type { StoredRollout } from '../rows.ts';
import { runTermsOf, secretsOf } from '../run-terms.ts';
import type { SelectedVm } from './read-candidates.ts';

type Candidate = Pick<SelectedVm, 'id' | 'restore'>;

/** Returns what the change would do to each of these VMs. */
export type Previewer = (candidates: readonly Candidate[]) => Promise<Map<string, Preview>>;

/**
 * Returns the function that previews a rollout's change. `given` are its secret values. Throws what `readRunOrder`
 * throws for a runbook that can no longer be run.
 */
export async function previewerOf(
  tx: Transaction,
  ctx: Context,
  rollout: StoredRollout,
  { given, memory }: { given: unknown; memory: PreviewMemory },
): Promise<Previewer> {
  const terms = runTermsOf(rollout.definition);
  if (terms !== null) return runPreviewer(tx, await readRunOrder(tx, terms, secretsOf(given)));
  const patch = patchOf(rollout, given);
  return (candidates) => {
    const requests = candidates.map(
      ({ id, restore }): MemberRequest => ({ ...{ vmId: id, planned: null }, change: restore ?? patch }),
    );
    return previewMany(tx, ctx, requests, memory);
  };
}

/** Returns the change that every member gets, unless a revert gives each its own. */
function patchOf({ kind, setBy, definition: { change } }: StoredRollout, given: unknown): MemberChange {
  return { kind: 'patch', change, given, setBy, automatic: kind === 'automatic' };
}

function runPreviewer(tx: Transaction, order: RunOrder): Previewer {
  const bytes = order.files.reduce((sum, { size }) => sum + size, 0);
  const queued: Preview = {
    ...{ outcome: 'change', kind: 'run', touched: [], bytes, restarts: false, seconds: order.timeoutSeconds },
    ...{ notRevertible: 'run', needsRelease: false },
  };
  const previewOf = (preview: RunPreview): Preview => (preview.outcome === 'run' ? queued : preview);
  return async (candidates) => {
    const previews = await previewRuns(
      tx,
      order,
      candidates.map(({ id }) => id),
    );
    return new Map([...previews].map(([vmId, preview]) => [vmId, previewOf(preview)]));
  };
}
