import Link from 'next/link';
import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { isolateText } from '#protocol/direction.ts';
import { canonicalLanguage } from '#protocol/language.ts';
import type { StepMark } from '#server/domain/rollout-rules/step-marks.ts';
import type { FleetRow } from '#server/domain/views/index.ts';
import { useCause } from '../use-cause.ts';
import { statusOfMark } from './looks.ts';

export interface TileProps {
  row: FleetRow;
  health: FleetRow['extensions'][number]['health'];
  /** The VM's mark in the rollout that the map shows; null if it shows health. */
  mark: StepMark | null;
  isCurrent: boolean;
}

/** A VM: its name, its health as a word, and why it is not healthy. */
export function Tile({ row, health, mark, isCurrent }: TileProps) {
  const { t } = useTranslation(['reports', 'overview']);
  const why = useReason(row);
  const reason = mark === null ? why : '';
  const status = mark === null ? statusOfHealth[health] : statusOfMark(mark);
  return (
    <Link
      data-tile
      data-st={status}
      href={`/vms/${row.id}`}
      prefetch={false}
      tabIndex={-1}
      title={[row.name, reason].filter(Boolean).join('\n')}
      className={cn(
        'grid w-[216px] content-start gap-0.5 rounded-md bg-surface px-2.5 py-2 shadow-hair hover:bg-hover max-sm:w-full',
        isCurrent && 'shadow-[0_0_0_1px_var(--surface),0_0_0_2.5px_var(--text)]',
      )}
    >
      <span className="flex min-w-0 items-center gap-1.5">
        <StatusIcon status={status} />
        <span translate="no" className="min-w-0 flex-1 truncate font-medium">
          {row.name}
        </span>
      </span>
      <span className="truncate text-12 text-st-text">
        {mark === null ? t(`reports:health.${health}`) : t(`overview:mark.${mark}`)}
      </span>
      {reason === '' ? null : (
        <bdi
          lang={row.reason?.lang ? (canonicalLanguage(row.reason.lang) ?? '') : undefined}
          className="line-clamp-2 text-12 text-ink-2 wrap-anywhere"
        >
          {isolateText(reason)}
        </bdi>
      )}
    </Link>
  );
}

/** Returns why a VM is not healthy; empty if it is healthy. */
export function useReason({ reason }: FleetRow): string {
  const cause = useCause();
  if (reason === null) return '';
  const { extension, text } = reason;
  if (text === null) return [extension, cause(reason)].filter(Boolean).join(' ');
  return [extension, text].filter(Boolean).join(': ');
}
