'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { firstFindingId, type PackageFinding } from './finding.ts';

export interface FindingLineProps {
  finding: PackageFinding;
  /** Whether the count at the top links to this finding. */
  first: boolean;
  /** Whether to name the field, because the finding's position does not show it. */
  named?: boolean;
}

/** A finding: its icon, its kind for screen readers, and its sentence. */
export function FindingLine({ finding, first, named = false }: FindingLineProps) {
  const { t } = useTranslation('packages');
  const field = named ? finding.path.split('/').at(-1) : undefined;
  return (
    <p
      data-st={finding.status}
      id={first ? firstFindingId : undefined}
      tabIndex={first ? -1 : undefined}
      className={cn(
        'flex items-baseline gap-1.5 rounded-xs py-0.5 font-sans text-12 text-st-text [--cut:var(--st-tint)]',
        // A line of code may be wider than its container, but a finding must not be.
        named && 'max-w-[calc(100cqw-6rem)]',
      )}
    >
      <StatusIcon status={finding.status} className="relative top-0.5 shrink-0" />
      <span className="min-w-0 wrap-anywhere whitespace-normal">
        <span className="sr-only">{t(`finding.${finding.status}`)}: </span>
        {field !== undefined && field !== '' && finding.path.includes('#') ? (
          <span translate="no" className="mono me-1 font-medium">
            {field}
          </span>
        ) : null}
        {finding.message}
      </span>
    </p>
  );
}
