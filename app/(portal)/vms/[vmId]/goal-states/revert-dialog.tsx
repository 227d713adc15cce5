'use client';

import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx';
import type { GoalStateComparison, VmFacts } from '../vm-data.ts';
import { DiffView } from './diff-view.tsx';
import { useChangeWords } from './use-change-words.ts';
import { useUndoRevert } from './use-undo-revert.ts';

export interface RevertDialogProps {
  facts: VmFacts;
  incarnation: number;
  onClose(): void;
}

/** Asks before an earlier goal state is published again, and names what changes against what the reader has seen. */
export function RevertDialog({ facts, incarnation, onClose }: RevertDialogProps) {
  const { t } = useTranslation('goal-states');
  const trpc = useTRPC();
  const explain = useProblem();
  const preview = useQuery(trpc.goalStates.previewRevert.queryOptions({ vmId: facts.id, incarnation }));
  const plan = useQuery(trpc.goalStates.planRevert.queryOptions({ vmId: facts.id, incarnation }));
  // What is compared stays as it was seen: who publishes meanwhile is told, not slipped in.
  const [seen, setSeen] = useState<GoalStateComparison>();
  const newest = preview.data;
  const shown = seen ?? newest;
  if (seen === undefined && newest !== undefined) setSeen(newest);
  const offerUndo = useUndoRevert(facts);
  const revert = useMutation(
    trpc.goalStates.revert.mutationOptions({
      onSuccess: (done) =>
        offerUndo({ revertedTo: incarnation, from: shown?.before?.incarnation, now: done.incarnation }),
      onError: () => preview.refetch(),
    }),
  );
  const say = useChangeWords();
  const problem = revert.error ? explain(revert.error) : undefined;
  const base = shown?.before;
  const other = newest?.before;
  const movedOn = problem?.code === 'goal_state_moved_on' && other && base?.incarnation !== other.incarnation;
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
          ? t('moved', { who: other.publishedBy, incarnation: other.incarnation })
          : problem && (problem.faults[0]?.message ?? problem.message)
      }
    >
      <div className="min-h-40">
        <h3 className="text-12 font-medium">{t('revert.changes')}</h3>
        {[preview.error, plan.error].find(Boolean) && !revert.error ? (
          <p className="mt-1 text-failed-text">{explain(preview.error ?? plan.error).message}</p>
        ) : null}
        {plan.data?.faults.map(({ path, message }) => (
          <p key={path} className="mt-1 text-failed-text">
            {message}
          </p>
        ))}
        <ul className="mt-1 grid max-h-32 gap-0.5 overflow-y-auto text-ink-2" aria-busy={preview.isPending}>
          {shown?.changes.map((change) => (
            <li key={change.extension + change.kind} className="wrap-anywhere">
              {say(change, true)}
            </li>
          ))}
          {shown && shown.changes.length === 0 ? <li>{t('revert.nothing')}</li> : null}
        </ul>
        {shown && shown.changes.length > 0 ? (
          <DiffView
            comparison={shown}
            shape="unified"
            className="mt-2 max-h-56 rounded-md bg-sunken shadow-hair-subtle"
          />
        ) : null}
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
