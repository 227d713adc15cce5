import { Plus } from 'lucide-react';
import type { ComponentProps } from 'react';
import { cn } from './cn.ts';

/** A dashed button that adds a filter. Use it as the trigger of a menu or popover. */
export function AddFilterButton({ children, className, ...props }: ComponentProps<'button'>) {
  return (
    <button
      type="button"
      {...props}
      className={cn(
        'inline-flex h-[26px] items-center gap-1 rounded-md border border-dashed border-line px-2 text-12 whitespace-nowrap text-ink-2 hover:bg-hover hover:text-ink pointer-coarse:h-9',
        className,
      )}
    >
      <Plus aria-hidden className="size-3.5" />
      {children}
    </button>
  );
}
