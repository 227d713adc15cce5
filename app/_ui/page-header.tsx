import type { ReactNode } from 'react';
import { cn } from './cn.ts';

export interface PageHeaderProps {
  title: ReactNode;
  /** A `StatusBadge size="lg"` or a `Tag` after the title. */
  badge?: ReactNode;
  /** A short note on the same line. */
  note?: ReactNode;
  /** Buttons; one of them may be primary. */
  actions?: ReactNode;
  /** `<Facts>` or a line of text below the title. */
  children?: ReactNode;
  className?: string;
}

/** The page's only h1, with its badge, note and buttons. */
export function PageHeader({ title, badge, note, actions, children, className }: PageHeaderProps) {
  return (
    <header className={cn('mb-4 max-sm:mb-3', className)}>
      <div className="flex min-h-8 flex-wrap items-center gap-x-3 gap-y-2">
        <h1 className="min-w-0 text-20 font-semibold tracking-tight wrap-anywhere">{title}</h1>
        {badge}
        {note === undefined ? null : <span className="min-w-0 text-ink-2">{note}</span>}
        {actions && (
          <>
            {/* Invisible until the sibling arrives, so that no button moves while the browser receives the others. */}
            <div className="ms-auto flex flex-wrap items-center gap-2 not-has-[+*]:invisible">{actions}</div>
            <span hidden />
          </>
        )}
      </div>
      {children}
    </header>
  );
}

/** A line of labels and values below a page title, such as the last poll and the agent's version. */
export function Facts({
  items,
  className,
}: {
  /** `bare` hides the label from everyone but screen readers. */
  items: readonly { label: ReactNode; value: ReactNode; bare?: boolean }[];
  className?: string;
}) {
  return (
    <dl className={cn('mt-1 flex flex-wrap items-baseline gap-x-5 max-sm:mt-2 gap-y-1 text-ink-2', className)}>
      {items.map((item, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the facts of a page keep their order
        <div key={index} className="flex min-w-0 flex-wrap items-baseline gap-x-1.5">
          <dt className={item.bare ? 'sr-only' : 'text-ink-3'}>{item.label}</dt>
          <dd className="min-w-0 wrap-anywhere">{item.value}</dd>
        </div>
      ))}
    </dl>
  );
}
