import type { ReactNode } from 'react';
import { cn } from '#app/_ui/cn.ts';
import { StatusIcon, type StatusName } from '#app/_ui/status-icon.tsx';

export interface NeedLineProps {
  status: StatusName;
  title: ReactNode;
  why: ReactNode;
  /** The next acts. */
  children: ReactNode;
  /** What can be expanded below. */
  more?: ReactNode;
}

/** A line of the card that says what needs attention, with the next acts. */
export function NeedLine({ status, title, why, children, more }: NeedLineProps) {
  return (
    <li
      data-st={status}
      className="flex flex-wrap items-start gap-x-3 gap-y-2 border-t border-line-subtle px-4 py-2.5 sm:items-center"
    >
      <div className="flex min-w-0 flex-[1_1_16rem] gap-2">
        <StatusIcon status={status} className="mt-[3px] shrink-0 text-st-text" />
        <div className="min-w-0">
          <p className={cn('font-medium wrap-anywhere', status === 'failed' && 'text-st-text')}>{title}</p>
          <div className="text-12 text-pretty wrap-anywhere text-ink-2">{why}</div>
        </div>
      </div>
      <span className="flex flex-wrap gap-2 max-sm:w-full max-sm:*:grow">{children}</span>
      {more === undefined ? null : <div className="-mt-2 w-full ps-6 text-12">{more}</div>}
    </li>
  );
}
