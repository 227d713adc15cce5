'use client';

import type { ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';

export interface FirstErrorProps {
  /** Counted from 1. */
  line: number;
  text: string;
  /** A button that shows the line, if the line may not be on the page. */
  action?: ReactNode;
}

/** The line that best explains why a command failed: the first error in its output or else its last line of text. */
export function FirstError({ line, text, action }: FirstErrorProps) {
  const { t } = useTranslation('reports');
  const format = useFormat();
  return (
    <div
      data-st="failed"
      className="flex items-start gap-2 rounded-md bg-st-tint px-3 py-2 text-st-text shadow-[inset_0_0_0_1px_var(--st-line)] [--cut:var(--st-tint)]"
    >
      <StatusIcon status="failed" className="mt-0.5" />
      <div className="min-w-0 flex-1">
        <p className="text-11">{t('output.first', { line: format.number(line) })}</p>
        <p translate="no" className="mono wrap-anywhere">
          {text}
        </p>
      </div>
      {action}
    </div>
  );
}
