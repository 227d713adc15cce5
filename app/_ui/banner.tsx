import type { ReactNode } from 'react';
import { cn } from './cn.ts';
import { StatusIcon, type StatusName } from './status-icon.tsx';

export interface BannerProps {
  status: StatusName;
  children: ReactNode;
  /** A lucide icon that replaces the icon of the status. */
  icon?: ReactNode;
  /** Buttons at the end. */
  actions?: ReactNode;
  /** `alert` interrupts a screen reader; `status` waits until it is idle. */
  role?: 'alert' | 'status';
  /** Whether the banner is a rounded box within a page; otherwise it spans its parent. */
  boxed?: boolean;
  className?: string;
}

/**
 * A message that concerns everything below it, such as a lost connection, an unresponsive agent, or a change by someone
 * else.
 */
export function Banner({ status, children, icon, actions, role = 'status', boxed = false, className }: BannerProps) {
  return (
    <div
      role={role}
      data-st={status}
      className={cn(
        'flex min-h-[38px] flex-wrap items-center gap-x-2.5 gap-y-2 bg-st-tint py-1.5 text-13 text-ink [--cut:var(--st-tint)]',
        boxed ? 'rounded-lg px-3.5 shadow-[inset_0_0_0_1px_var(--st-line)]' : 'border-y border-st-line px-(--gutter)',
        className,
      )}
    >
      <div className="flex min-w-0 flex-[1_1_12rem] gap-x-2.5 [&>svg]:mt-[3px] [&>svg]:shrink-0 [&>svg]:text-st-text">
        {icon ?? <StatusIcon status={status} />}
        <div className="min-w-0 flex-1">{children}</div>
      </div>
      {actions}
    </div>
  );
}
