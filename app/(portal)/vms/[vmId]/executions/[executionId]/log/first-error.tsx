'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import type { LogRow } from '#app/(portal)/executions/execution-data.ts';
import { textOfError } from './error-text.ts';

export interface FirstErrorOfLogProps {
  error: LogRow;
  onShow(row: number): void;
}

/** Shows the first error above the rows of a log. */
export function FirstError({ error, onShow }: FirstErrorOfLogProps) {
  const { t } = useTranslation('executions');
  const format = useFormat();
  const { row } = error;
  return (
    <div
      data-st="failed"
      className="mx-4 mb-3 flex items-start gap-2 rounded-md bg-st-tint px-3 py-2 text-st-text shadow-[inset_0_0_0_1px_var(--st-line)] [--cut:var(--st-tint)]"
    >
      <StatusIcon status="failed" className="mt-0.5" />
      <div className="min-w-0 flex-1">
        <p className="text-11">{t('log.firstError', { n: format.number(row + 1) })}</p>
        <p translate="no" dir="ltr" className="mono line-clamp-3 wrap-anywhere">
          {textOfError(error)}
        </p>
      </div>
      <Button size="sm" onClick={() => onShow(row)}>
        {t('log.firstError.show')}
      </Button>
    </div>
  );
}
