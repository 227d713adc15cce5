import { cn } from './cn.ts';

/** A gray bar in place of a value. Has no shimmer, and appears after 120 ms. Give it the value's usual width. */
export function Skeleton({ className }: { className?: string }) {
  return <span aria-hidden className={cn('block h-2.5 w-24 max-w-full animate-late rounded-xs bg-press', className)} />;
}

export interface SkeletonRowsProps {
  /** Tailwind widths per column, such as `['w-24', 'w-16', 'w-48']`. */
  columns: readonly string[];
  rows?: number;
  /** Describes what is loading, for screen readers. */
  label: string;
}

/** Placeholder rows with the final height, for a table that is loading. */
export function SkeletonRows({ columns, rows = 6, label }: SkeletonRowsProps) {
  return (
    <div
      role="status"
      aria-busy="true"
      aria-label={label}
      className="divide-y divide-line-subtle [[role=dialog]>&,[role=dialog]>form>&]:-mx-4"
    >
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a placeholder is identified only by its position
        <div key={row} className="flex h-(--row) items-center gap-8 px-4">
          {columns.map((width, column) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a placeholder is identified only by its position
            <Skeleton key={column} className={cn(width, row % 3 === 1 && 'opacity-80')} />
          ))}
        </div>
      ))}
    </div>
  );
}
