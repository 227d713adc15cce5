'use client';

import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC, useTRPCClient } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { toast } from '#app/_ui/toast.tsx';
import type { VmFacts } from '../vm-data.ts';

interface Reverted {
  revertedTo: number;
  /** The incarnation before the revert. */
  from: number | undefined;
  now: number;
}

/**
 * Returns a function that shows a toast after a revert. The toast's undo button works until someone publishes again.
 * The undo button must not depend on the dialog, which is closed by then.
 */
export function useUndoRevert(facts: VmFacts): (reverted: Reverted) => Promise<void> {
  const { t } = useTranslation('goal-states');
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const vm = facts.name;

  const readAgain = () =>
    Promise.all(
      [trpc.instanceViews, trpc.vms, trpc.goalStates].map((router) =>
        queryClient.invalidateQueries(router.pathFilter()),
      ),
    );

  async function undo({ from, now }: Reverted): Promise<void> {
    if (from === undefined) return;
    try {
      await client.goalStates.revert.mutate({ vmId: facts.id, incarnation: from, ifMatch: now });
      toast(t('revert.undone', { vm, incarnation: from }));
    } catch (error) {
      const { message, faults } = explain(error);
      toast(t('revert.notUndone', { why: faults[0]?.message ?? message }));
    }
    await readAgain();
  }

  return async (reverted) => {
    const { revertedTo, from, now } = reverted;
    const way =
      from === undefined || from === now ? {} : { undo: { label: t('undo'), run: () => void undo(reverted) } };
    toast(t('revert.done', { vm, incarnation: revertedTo }), way);
    await readAgain();
  };
}
