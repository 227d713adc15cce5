'use client';

import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx';
import type { GoalStateComparison, GoalStatePlan, VmFacts } from '../vm-data.ts';
import { DiffView } from './diff-view.tsx';
import { ReturningSecrets } from './returning-secrets.tsx';
import { useChangeWords } from './use-change-words.ts';
import { useUndoRevert } from './use-undo-revert.ts';

export interface RevertDialogProps {
  facts: VmFacts;
  incarnation: number;
  onClose(): void;
}

/** Asks for confirmation before publishing an earlier goal state again, with a preview of the changes. */
export function RevertDialog({ facts, incarnation, onClose }: RevertDialogProps) {
  const { t } = useTranslation('goal-states');
  const trpc = useTRPC();
  const explain = useProblem();
  const preview = useQuery(trpc.goalStates.previewRevert.queryOptions({ vmId: facts.id, incarnation }));
  const plan = useQuery(trpc.goalStates.planRevert.queryOptions({ vmId: facts.id, incarnation }));
  // The comparison stays as the reader saw it. A newer goal state is announced but does not replace it.
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
  const previewError = revert.error ? undefined : ([preview.error, plan.error].find(Boolean) ?? undefined);
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
      <RevertPreview
        shown={shown}
        isPending={preview.isPending}
        plan={plan.data}
        problem={previewError === undefined ? undefined : explain(previewError).message}
      />
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

interface RevertPreviewProps {
  /** The comparison; undefined until it is loaded. */
  shown: GoalStateComparison | undefined;
  isPending: boolean;
  /** What the revert would do, and any reasons why it is not possible; undefined until the plan is loaded. */
  plan: GoalStatePlan | undefined;
  /** Why there is no preview. */
  problem: string | undefined;
}

function RevertPreview({ shown, isPending, plan, problem }: RevertPreviewProps) {
  const { t } = useTranslation('goal-states');
  const say = useChangeWords();
  return (
    <div className="min-h-40">
      <h3 className="text-12 font-medium">{t('revert.changes')}</h3>
      {problem === undefined ? null : <p className="mt-1 text-failed-text">{problem}</p>}
      {plan?.faults.map(({ path, message }) => (
        <p key={path} className="mt-1 text-failed-text">
          {message}
        </p>
      ))}
      <ul className="mt-1 grid max-h-32 gap-0.5 overflow-y-auto text-ink-2" aria-busy={isPending}>
        {shown?.changes.map((change) => (
          <li key={change.extension + change.kind} className="wrap-anywhere">
            {say(change, true)}
          </li>
        ))}
        {shown && shown.changes.length === 0 ? <li>{t('revert.nothing')}</li> : null}
      </ul>
      <ReturningSecrets extensions={plan?.extensions ?? []} />
      {shown && shown.changes.length > 0 ? (
        <DiffView
          comparison={shown}
          shape="unified"
          className="mt-2 max-h-56 rounded-md bg-sunken shadow-hair-subtle"
        />
      ) : null}
    </div>
  );
}
