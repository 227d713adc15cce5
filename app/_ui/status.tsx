'use client';

import type { ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from './cn.ts';
import { type IconShape, StatusIcon, type StatusName } from './status-icon.tsx';

export interface StatusProps {
  status: StatusName;
  /** The shape of the icon, if it is not the one of the status. */
  shape?: IconShape | undefined;
  /** The label; by default the status's name in the reader's language. */
  children?: ReactNode;
  className?: string;
}

function useWord(status: StatusName): string {
  const { t } = useTranslation('common');
  return t(`status.${status}`);
}

/**
 * An icon and a label without a box, for tables and cards. The label has regular weight if the status is healthy,
 * otherwise medium weight.
 */
export function Status({ status, shape, children, className }: StatusProps) {
  const word = useWord(status);
  return (
    <span
      data-st={status}
      className={cn(
        'inline-flex items-center gap-1.5 whitespace-nowrap text-st-text',
        status === 'healthy' ? 'font-normal' : 'font-medium',
        className,
      )}
    >
      <StatusIcon status={status} shape={shape} />
      {children ?? word}
    </span>
  );
}

/** An icon and a label on a tint. Use it only next to a page title (`size="lg"`) and in overlays. */
export function StatusBadge({
  status,
  shape,
  children,
  className,
  size = 'default',
}: StatusProps & { size?: 'default' | 'lg' }) {
  const word = useWord(status);
  return (
    <span
      data-st={status}
      className={cn(
        'inline-flex items-center bg-st-tint whitespace-nowrap text-st-text shadow-[inset_0_0_0_1px_var(--st-line)] [--cut:var(--st-tint)]',
        size === 'lg'
          ? 'h-7 gap-1.5 rounded-md ps-2 pe-2.5 text-13 font-semibold [&_svg]:size-4'
          : 'h-[22px] gap-[5px] rounded-sm ps-1.5 pe-2 text-12 font-medium',
        className,
      )}
    >
      <StatusIcon status={status} shape={shape} />
      {children ?? word}
    </span>
  );
}

const loud: readonly StatusName[] = ['failed', 'warning', 'unresponsive'];

export interface StatusChipProps {
  status: StatusName;
  /** The name of the extension. */
  children: ReactNode;
  /** The status as text, for the tooltip and screen readers; by default the status's name. */
  word?: string;
  className?: string;
}

/** A name with its status, in small print for rows with many names. Colored only if someone needs to act. */
export function StatusChip({ status, children, word, className }: StatusChipProps) {
  const own = useWord(status);
  const title = word ?? own;
  return (
    <span
      data-st={status}
      title={typeof children === 'string' ? `${children}: ${title}` : title}
      className={cn(
        'inline-flex h-5 max-w-48 items-center gap-[5px] rounded-sm ps-[5px] pe-1.5 text-12 whitespace-nowrap',
        loud.includes(status)
          ? 'bg-st-tint text-st-text shadow-[inset_0_0_0_1px_var(--st-line)] [--cut:var(--st-tint)]'
          : 'text-ink-2 shadow-hair',
        className,
      )}
    >
      <StatusIcon status={status} className="size-3" />
      <span translate="no" className="min-w-0 truncate">
        {children}
      </span>
      <span className="sr-only">, {title}</span>
    </span>
  );
}
