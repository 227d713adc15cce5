'use client';

import { useMutation } from '@tanstack/react-query';
import { Repeat } from 'lucide-react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { toast } from '#app/_ui/toast.tsx';
import type { Extension } from '../vm-data.ts';
import { useInvalidateRetries } from './use-retry.ts';

export interface RetryNoteProps {
  vmId: string;
  name: string;
  retries: NonNullable<Extension['retries']>;
}

/**
 * The repeated retries of an extension: when the next retry is due, who started them, and a button that cancels them.
 */
export function RetryNote({ vmId, name, retries: { nextAt, done, times, startedBy } }: RetryNoteProps) {
  const { t } = useTranslation('reports');
  const trpc = useTRPC();
  const reader = useReader();
  const explain = useProblem();
  const cancel = useMutation(
    trpc.goalStates.cancelRetries.mutationOptions({
      onSuccess: () => toast(t('retry.canceled', { name })),
      onSettled: useInvalidateRetries(),
    }),
  );
  const tags = {
    clock: <DateTime value={new Date(nextAt)} style="time" />,
    who: <span translate="no" />,
  };
  return (
    <div className="flex flex-wrap items-center gap-x-2 gap-y-1 text-12 text-ink-2 tabular-nums">
      <span className="flex min-w-0 items-center gap-x-2">
        <Repeat aria-hidden className="size-3.5 shrink-0" />
        <span className="min-w-0 wrap-anywhere">
          <Trans text={t('retry.next', { n: done + 1, times, who: startedBy })} tags={tags} />
        </span>
      </span>
      {reader.can('operator') ? (
        <Button
          size="sm"
          aria-label={t('retry.cancel.of', { name })}
          busy={cancel.isPending}
          onClick={() => cancel.mutate({ vmId, name })}
        >
          {t('retry.cancel')}
        </Button>
      ) : null}
      {cancel.error ? (
        <span role="alert" className="text-failed-text">
          {explain(cancel.error).message}
        </span>
      ) : null}
    </div>
  );
}
