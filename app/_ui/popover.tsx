'use client';

import * as Radix from 'radix-ui/popover';
import type { ComponentProps } from 'react';
import { cn } from './cn.ts';

/** Usage: `<Popover><PopoverTrigger asChild><Button/></PopoverTrigger><PopoverContent aria-label="…">…`. */
export const Popover = Radix.Root;
export const PopoverTrigger = Radix.Trigger;

export function PopoverContent({
  className,
  sideOffset = 4,
  align = 'start',
  ...props
}: ComponentProps<typeof Radix.Content>) {
  return (
    <Radix.Portal container={document.querySelector('main')}>
      <Radix.Content
        sideOffset={sideOffset}
        align={align}
        collisionPadding={8}
        {...props}
        className={cn(
          'z-50 w-72 max-w-[calc(100vw-16px)] animate-pop rounded-lg bg-raised p-3 shadow-float outline-none [--cut:var(--raised)]',
          className,
        )}
      />
    </Radix.Portal>
  );
}
