'use client';

import { ChevronRight } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import { useFormat } from '#app/_ui/format.ts';
import { Duration } from '#app/(portal)/executions/duration.tsx';
import type { LogRow, ShownCall } from '#app/(portal)/executions/execution-data.ts';
import { callName } from '../call-name.ts';

export interface CallLineProps {
  record: LogRow;
  call: ShownCall | undefined;
  isFolded: boolean;
  onFold(call: ShownCall): void;
}

/** The row in which a call begins. Once the call has ended, a button folds or unfolds its rows. */
export function CallLine({ record, call, isFolded, onFold }: CallLineProps) {
  const { t } = useTranslation('executions');
  const format = useFormat();
  const name = call === undefined ? `${record.text}()` : callName(call);
  const title = (
    <>
      <span className="text-ink-3">{record.n}</span> <span className="font-medium">{name}</span>
    </>
  );
  if (call === undefined || call.untilRow === null || call.untilRow <= call.row) return title;
  // A fold also hides the row in which the call ends, so that the numbers of the rows around it fit the count.
  const lines = call.untilRow - call.row - (isFolded ? 0 : 1);
  return (
    <button
      type="button"
      aria-expanded={!isFolded}
      onClick={() => onFold(call)}
      className="inline-flex items-center gap-1.5 rounded-sm hover:text-brand-text"
    >
      <ChevronRight aria-hidden className={cn('size-3.5 text-ink-3 rtl:-scale-x-100', !isFolded && 'rotate-90')} />
      <span>{title}</span>
      <span className="font-sans text-12 text-ink-2">
        {t(isFolded ? 'log.folded' : 'calls.lines', { count: lines, n: format.number(lines) })}
        {call.tookMs === null ? null : (
          <>
            {' · '}
            <Duration ms={call.tookMs} />
          </>
        )}
        {call.exitCode === null || call.exitCode === 0 ? null : (
          <span className="text-failed-text"> · {t('calls.exit', { exit: call.exitCode })}</span>
        )}
      </span>
    </button>
  );
}
