'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx';
import { toast } from '#app/_ui/toast.tsx';
import { changesBetween } from './goal-state-changes.ts';
import type { PastGoalState, VmFacts } from './vm-data.ts';

export interface RevertDialogProps {
  facts: VmFacts;
  incarnation: number;
  onClose(): void;
}

/** Asks before an earlier goal state is published again, and names what changes against what the reader has seen. */
export function RevertDialog({ facts, incarnation, onClose }: RevertDialogProps) {
  const { t } = useTranslation('goal-states');
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const past = useQuery(trpc.goalStates.list.queryOptions({ vmId: facts.id, limit: 100 }));
  // What is compared stays as it was seen: who publishes meanwhile is told, not slipped in.
  const [seen, setSeen] = useState<PastGoalState>();
  const newest = past.data?.items[0];
  const base = seen ?? newest;
  if (seen === undefined && newest !== undefined) setSeen(newest);
  const target = past.data?.items.find((state) => state.incarnation === incarnation);
  const revert = useMutation(
    trpc.goalStates.revert.mutationOptions({
      onSuccess: async () => {
        toast(t('revert.done', { vm: facts.name, incarnation }));
        await Promise.all(
          [trpc.instanceViews, trpc.vms, trpc.goalStates].map((router) =>
            queryClient.invalidateQueries(router.pathFilter()),
          ),
        );
      },
      onError: () => past.refetch(),
    }),
  );
  const problem = revert.error ? explain(revert.error) : undefined;
  const movedOn = problem?.code === 'goal_state_moved_on' && newest !== undefined && newest !== base;
  const wanted = target?.extensions.filter(({ state }) => state !== 'uninstall');
  const changes = base && wanted ? changesBetween(base.extensions, wanted) : [];
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      tone="default"
      title={t('revert.title', { vm: facts.name, incarnation })}
      description={t('revert.what', { vm: facts.name, incarnation })}
      confirmLabel={t('revert', { incarnation })}
      onConfirm={() => revert.mutateAsync({ vmId: facts.id, incarnation, ifMatch: base?.incarnation })}
      error={
        movedOn
          ? t('moved', { who: newest.publishedBy, incarnation: newest.incarnation })
          : problem && (problem.faults[0]?.message ?? problem.message)
      }
    >
      <div className="min-h-16">
        <h3 className="text-12 font-medium">{t('revert.changes')}</h3>
        <ul className="mt-1 grid max-h-48 gap-0.5 overflow-y-auto text-ink-2" aria-busy={past.isPending}>
          {changes.map(({ key, values }) => (
            <li key={key + values.name}>{t(key === 'change.removed' ? 'change.uninstall' : key, values)}</li>
          ))}
          {base && target && changes.length === 0 ? <li>{t('revert.nothing')}</li> : null}
        </ul>
      </div>
      {movedOn ? (
        <div>
          <Button
            size="sm"
            onClick={() => {
              setSeen(newest);
              revert.reset();
            }}
          >
            {t('moved.compare')}
          </Button>
        </div>
      ) : null}
    </ConfirmDialog>
  );
}
