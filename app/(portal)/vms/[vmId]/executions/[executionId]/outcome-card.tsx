'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Card } from '#app/_ui/card.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { type ShownExecution, statusOfState } from '#app/(portal)/executions/execution-data.ts';
import { useSentence } from '#app/(portal)/executions/use-sentence.ts';

/** How an execution ended, as a sentence. */
export function OutcomeCard({ execution }: { execution: ShownExecution }) {
  const { t } = useTranslation('executions');
  const sentence = useSentence();
  const { state, message, errorCode, late, repeats, cancelAskedBy } = execution;
  const notes = [
    errorCode === null ? null : t('code', { code: errorCode }),
    state === 'cancelled' && cancelAskedBy !== null ? t('outcome.canceledBy', { who: cancelAskedBy }) : null,
    late ? t('outcome.late') : null,
    repeats > 0 ? t('outcome.repeats', { count: repeats }) : null,
  ].filter((note) => note !== null);
  return (
    <Card data-st={statusOfState[state]} className="px-4 py-3.5">
      <div className="flex items-start gap-2">
        <StatusIcon status={statusOfState[state]} className="mt-1 size-4" />
        <div className="min-w-0">
          <p className="text-14 font-medium text-pretty wrap-anywhere">
            {message === null ? t(`state.${state}`) : sentence(message)}
          </p>
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
