'use client';

import * as Radix from 'radix-ui/switch';
import type { ComponentProps } from 'react';
import { cn } from './cn.ts';

/** An on/off control. Label it with `ControlRow`. */
export function Switch({ className, ...props }: ComponentProps<typeof Radix.Root>) {
  return (
    <Radix.Root
      {...props}
      className={cn(
        'relative inline-flex h-[18px] w-[30px] shrink-0 items-center rounded-full bg-line-control px-0.5 transition-colors duration-(--d-1) after:absolute after:-inset-1 focus-visible:shadow-focus disabled:opacity-50 data-[state=checked]:bg-brand',
        className,
      )}
    >
      <Radix.Thumb className="block size-3.5 rounded-full bg-surface transition-transform duration-(--d-1) data-[state=checked]:translate-x-3 data-[state=checked]:bg-on-brand rtl:data-[state=checked]:-translate-x-3" />
    </Radix.Root>
  );
}
