'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { mayRunPlans } from '#app/_lib/may-run-plans.ts';
import { useReader } from '#app/_shell/reader.tsx';
import { Card } from '#app/_ui/card.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import type { ShownExecution } from '#app/(portal)/executions/execution-data.ts';
import { nextAct, shownState } from '#app/(portal)/executions/shown-state.ts';
import { useOutcome } from '#app/(portal)/executions/use-outcome.ts';

/** How an execution ended, as a sentence, and what to do next. */
export function OutcomeCard({ execution }: { execution: ShownExecution }) {
  const { t } = useTranslation('executions');
  const outcome = useOutcome()(execution);
  const reader = useReader();
  const { errorCode, late, repeats, cancelAskedBy, runbook, approval } = execution;
  const { word, status, shape } = shownState(execution);
  const mayEdit = mayRunPlans(reader);
  const act = nextAct(execution, { again: mayEdit || (runbook !== null && reader.can('operator')), edit: mayEdit });
  const notes = [
    word === 'cancelled' && cancelAskedBy !== null ? t('outcome.canceledBy', { who: cancelAskedBy }) : null,
    late ? t('outcome.late') : null,
    repeats > 0 ? t('outcome.repeats', { count: repeats }) : null,
  ].filter((note) => note !== null);
  return (
    <Card data-st={status} className="px-4 py-3.5">
      <div className="flex items-start gap-2">
        <StatusIcon status={status} shape={shape} className="mt-1 size-4" />
        <div className="min-w-0">
          <p className="text-14 font-medium text-pretty wrap-anywhere">
            {outcome ?? t(`state.${word}`)}
            {errorCode === null || errorCode === 0 || word === 'cancelled' ? null : (
              <span className="ms-2 text-12 font-normal whitespace-nowrap text-ink-3">
                {t('code', { code: errorCode })}
              </span>
            )}
          </p>
          {act === null ? null : (
            <p className="mt-0.5 max-w-[100ch] text-pretty text-ink-2">
              {t(act, { who: approval?.by ?? '', again: t('again'), edit: t('again.edit') })}
            </p>
          )}
          {notes.length === 0 ? null : (
            <p className="mt-0.5 flex flex-wrap gap-x-3 text-12 text-ink-2">
              {notes.map((note) => (
                <span key={note}>{note}</span>
              ))}
            </p>
          )}
        </div>
      </div>
    </Card>
  );
}
