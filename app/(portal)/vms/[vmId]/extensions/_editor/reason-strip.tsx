'use client';

import { useQuery } from '@tanstack/react-query';
import { SquareTerminal } from 'lucide-react';
import Link from 'next/link';
import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Banner } from '#app/_ui/banner.tsx';
import { Button } from '#app/_ui/button.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { firstError } from '../../first-error.ts';
import { MessageText } from '../../message-line.tsx';
import { needsRetry } from '../../retry/retryable.ts';
import { ageMs, type Extension, type InstanceDetails, tabHref } from '../../vm-data.ts';
import { messageOfProblem } from '../../why/headline-of.ts';

export interface ReasonStripProps {
  vmId: string;
  name: string;
  /** The view that the server rendered. */
  first: InstanceDetails;
}

/**
 * Why the edited extension has a problem: its message, the failed command, a missed deadline, and the error in the
 * output. Renders nothing while the extension has no problem.
 */
export function ReasonStrip({ vmId, name, first }: ReasonStripProps) {
  const { t } = useTranslation('reports');
  const trpc = useTRPC();
  const { data: view, dataUpdatedAt } = useQuery({
    ...trpc.instanceViews.get.queryOptions({ vmId }),
    initialData: first,
    refetchInterval: ageMs,
    retry: false,
  });
  const extension = view.extensions.find((one) => one.name === name);
  if (extension === undefined || !needsRetry(extension)) return null;
  const message = messageOfProblem(extension);
  const own = extension.notice === null ? null : t(`said.${extension.notice.code}`, extension.notice.values);
  const output = firstError(extension.handlerState?.outputTail ?? '');
  return (
    <Banner
      boxed
      status={statusOfHealth[extension.health]}
      className="mb-4"
      actions={
        extension.handlerState?.outputTail ? (
          <Button asChild size="sm">
            <Link href={tabHref(vmId, 'output', name)}>
              <SquareTerminal aria-hidden />
              {t('why.output')}
            </Link>
          </Button>
        ) : undefined
      }
    >
      <span className="line-clamp-3 font-medium wrap-anywhere">
        {message === null ? (own ?? t(`health.${extension.health}`)) : <MessageText message={message} />}
      </span>
      <Command extension={extension} />
      <PastDeadline extension={extension} at={new Date(dataUpdatedAt)} />
      {output === null ? null : (
        <span translate="no" className="mono-11 block truncate text-ink-2" title={output.text}>
          {output.text}
        </span>
      )}
    </Banner>
  );
}

/** How the last command ended, if it failed. */
function Command({ extension: { handlerState } }: { extension: Extension }) {
  const { t } = useTranslation('reports');
  if (!handlerState?.failed) return null;
  const { command, exitCode, timedOut } = handlerState;
  if (timedOut && command !== null) {
    return <span className="block text-12 text-ink-2">{t('card.timedOut', { command })}</span>;
  }
  if (!exitCode) return null;
  return (
    <span className="block text-12 text-ink-2 tabular-nums">
      {command === null ? t('output.exit', { exit: exitCode }) : t('card.exit', { command, exit: exitCode })}
    </span>
  );
}

/** The deadline, if the extension has missed it. */
function PastDeadline({ extension: { deadlineAt }, at }: { extension: Extension; at: Date }) {
  const { t } = useTranslation('reports');
  if (deadlineAt === null || new Date(deadlineAt) > at) return null;
  return (
    <span className="block text-12 text-ink-2 tabular-nums">
      {t('card.deadline.past')} <DateTime value={new Date(deadlineAt)} style="time" />
    </span>
  );
}
