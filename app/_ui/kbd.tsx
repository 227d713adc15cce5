import type { ComponentProps } from 'react';
import { cn } from './cn.ts';

/** A key on the keyboard. */
export function Kbd({ className, ...props }: ComponentProps<'kbd'>) {
  return (
    <kbd
      {...props}
      className={cn(
        'inline-flex h-[18px] min-w-[18px] items-center justify-center rounded-xs bg-surface px-1 font-sans text-11 text-ink-3 shadow-hair',
        className,
      )}
    />
  );
}
