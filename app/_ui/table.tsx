import type { ComponentProps } from 'react';
import { cn } from './cn.ts';

/**
 * Rows of 36 px with hairlines: `<TableFrame><Table><THead><tr><Th>…</Th></tr></THead><TBody><Tr><Td>…`. Text is
 * aligned to the start, numbers to the end (`end`). The first and last cells keep the card's padding of 16 px.
 */
export function Table({ className, ...props }: ComponentProps<'table'>) {
  return (
    <table
      {...props}
      className={cn('w-full border-collapse [&_tr>:first-child]:ps-4 [&_tr>:last-child]:pe-4', className)}
    />
  );
}

export interface TableFrameProps extends ComponentProps<'section'> {
  /** The accessible name, required because the region can be scrolled by keyboard. */
  label: string;
}

/** Lets a wide table scroll, by pointer and by keyboard. */
export function TableFrame({ label, className, ...props }: TableFrameProps) {
  return (
    <section
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
      tabIndex={0}
      aria-label={label}
      {...props}
      className={cn('relative overflow-x-auto rounded-lg not-first:rounded-t-none', className)}
    />
  );
}

export function THead(props: ComponentProps<'thead'>) {
  return <thead {...props} />;
}

export function TBody({ className, ...props }: ComponentProps<'tbody'>) {
  return <tbody {...props} className={cn('[&>tr:last-child>td]:border-b-0', className)} />;
}

interface CellProps {
  /** Whether to align to the end of the line, as for numbers and times. */
  end?: boolean;
}

/** Sticky header of a column. */
export function Th({ end = false, className, ...props }: ComponentProps<'th'> & CellProps) {
  return (
    <th
      scope="col"
      {...props}
      className={cn(
        'sticky top-0 z-1 h-8 border-b border-line bg-surface px-3 text-12 font-medium whitespace-nowrap text-ink-3',
        end ? 'text-end' : 'text-start',
        className,
      )}
    />
  );
}

export interface TrProps extends ComponentProps<'tr'> {
  selected?: boolean;
  /** Whether the row is selected by keyboard (`j`/`k`): shown as a ring. May be combined with `selected`. */
  cursor?: boolean;
  /** Plays a fading tint in the color of the row's status. Set `data-st` too; change `key` to play it again. */
  changed?: boolean;
  /** Whether the row is being removed: shown pale. */
  leaving?: boolean;
}

export function Tr({
  selected = false,
  cursor = false,
  changed = false,
  leaving = false,
  className,
  ...props
}: TrProps) {
  return (
    <tr
      {...props}
      aria-selected={selected || undefined}
      data-cursor={cursor || undefined}
      className={cn(
        'hover:bg-hover',
        selected && 'bg-brand-tint hover:bg-brand-tint [--cut:var(--brand-tint)]',
        cursor &&
          '[&>td]:shadow-[inset_0_1px_var(--brand-text),inset_0_-1px_var(--brand-text)] [&>td:first-child]:shadow-[inset_2px_0_var(--brand-text),inset_0_1px_var(--brand-text),inset_0_-1px_var(--brand-text)]',
        changed && 'animate-wash',
        leaving && 'text-ink-3',
        className,
      )}
    />
  );
}

export function Td({ end = false, className, ...props }: ComponentProps<'td'> & CellProps) {
  return (
    <td
      {...props}
      className={cn('h-(--row) border-b border-line-subtle px-3 whitespace-nowrap', end && 'text-end', className)}
    />
  );
}
