import type { ReactNode } from 'react';

/** Rows of a card: label, value and buttons. */
export function Rows({ children }: { children: ReactNode }) {
  return <dl className="pb-1">{children}</dl>;
}

export interface RowProps {
  label: ReactNode;
  children: ReactNode;
  /** A muted line below the value. */
  note?: ReactNode;
  actions?: ReactNode;
}

export function Row({ label, children, note, actions }: RowProps) {
  return (
    <div className="flex min-h-11 flex-wrap items-center gap-x-4 gap-y-1 border-t border-line-subtle px-4 py-2">
      <dt className="w-40 shrink-0 text-ink-2 max-sm:w-full max-sm:text-12">{label}</dt>
      <dd className="min-w-0 flex-[1_1_12rem] wrap-anywhere">
        {children}
        {note === undefined ? null : <p className="mt-0.5 text-12 text-ink-3">{note}</p>}
      </dd>
      {actions === undefined ? null : <dd className="ms-auto flex flex-wrap items-center gap-2">{actions}</dd>}
    </div>
  );
}
