'use client';

import { useQueryClient } from '@tanstack/react-query';
import { useTRPC, useTRPCClient } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import type { Newer } from './conflict-card.tsx';
import { differs, type Editing } from './use-editing.ts';

/**
 * Returns a function that loads the current goal state and calls `onNewer` if this extension differs from the
 * declaration that the draft started from.
 */
export function useCompare(vmId: string, editing: Editing, onNewer: (newer: Newer) => void): () => Promise<void> {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const explain = useProblem();
  const { base, draft, isNew, secrets } = editing;
  return async () => {
    const [goalStates, extension] = await Promise.all([
      client.goalStates.list.query({ vmId, limit: 1 }),
      client.goalStates.getExtension.query({ vmId, name: draft.name }).catch((error: unknown) => {
        if (explain(error).code === 'extension_absent') return null;
        throw error;
      }),
      queries.invalidateQueries(trpc.goalStates.pathFilter()),
    ]).catch(() => [null, null] as const);
    const [state] = goalStates?.items ?? [];
    if (state === undefined) return;
    const { incarnation, publishedAt, publishedBy } = state;
    const isTheSame = extension === null ? isNew : base.extension !== null && !differs(base.extension, extension);
    // If only other extensions changed, there is nothing to compare, so the draft continues from the newer goal state.
    if (isTheSame) editing.continueFrom({ extension, incarnation }, draft, secrets.mode === 'keep' ? null : secrets);
    else onNewer({ incarnation, publishedAt, publishedBy, extension });
  };
}
