import Link from 'next/link';
import type { ComponentProps } from 'react';
import { cn } from './cn.ts';

/**
 * The link of a table row, which opens with a click anywhere in the row. The row must be `relative`, and its other links
 * `relative z-1`.
 */
export function RowLink({ className, ...props }: ComponentProps<typeof Link>) {
  return (
    <Link
      {...props}
      className={cn(
        'truncate font-medium after:absolute after:inset-0 focus-visible:shadow-none focus-visible:after:shadow-(--focus)',
        className,
      )}
    />
  );
}
