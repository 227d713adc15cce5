import type { ReactNode } from 'react';
import { cn } from './cn.ts';
import { StatusIcon, type StatusName } from './status-icon.tsx';

export interface EmptyStateProps {
  title: ReactNode;
  /** Why there is no content, and what to do next. */
  children?: ReactNode;
  actions?: ReactNode;
  /** A muted line at the end, such as "The token works once, until 15:02." */
  foot?: ReactNode;
  /** Shows the icon of a status before the title. */
  status?: StatusName;
  /** Heading level, 2 by default. */
  as?: 'h1' | 'h2' | 'h3';
  className?: string;
}

/** Shown in place of empty or missing content. Says why there is none, and what to do next. Use inside a `Card`. */
export function EmptyState({ title, children, actions, foot, status, as: Heading = 'h2', className }: EmptyStateProps) {
  return (
    <div
      className={cn(
        'grid grid-cols-[minmax(0,1fr)] content-start justify-items-start gap-1.5 px-4 py-5 [[data-header]+&]:pt-1.5 [[role=dialog]>&,[role=dialog]>form>&]:-mx-4',
        className,
      )}
    >
      <Heading className="flex items-start gap-2 text-14 font-semibold">
        {status === undefined ? null : <StatusIcon status={status} className="mt-[3px]" />}
        {title}
      </Heading>
      {children === undefined ? null : (
        <div className="grid w-full grid-cols-[minmax(0,1fr)] gap-2 text-ink-2 [&>p]:max-w-[72ch]">{children}</div>
      )}
      {actions === undefined ? null : <div className="mt-1.5 flex flex-wrap gap-2">{actions}</div>}
      {foot === undefined ? null : <div className="text-12 text-ink-3">{foot}</div>}
    </div>
  );
}
