'use client';

import { Check, Minus } from 'lucide-react';
import * as Radix from 'radix-ui/checkbox';
import type { ComponentProps } from 'react';
import { cn } from './cn.ts';

/** `checked` may be `'indeterminate'`. Label it with `ControlRow`, or with aria-label in a table. */
export function Checkbox({ className, ...props }: ComponentProps<typeof Radix.Root>) {
  return (
    <Radix.Root
      {...props}
      className={cn(
        'group relative inline-grid size-[15px] shrink-0 place-items-center rounded-xs bg-surface align-middle shadow-field after:absolute after:-inset-1.5 focus-visible:shadow-focus disabled:opacity-50 data-[state=checked]:bg-brand data-[state=checked]:text-on-brand data-[state=checked]:shadow-none data-[state=indeterminate]:bg-brand data-[state=indeterminate]:text-on-brand data-[state=indeterminate]:shadow-none',
        className,
      )}
    >
      <Radix.Indicator>
        <Check aria-hidden strokeWidth={3} className="hidden size-[11px] group-data-[state=checked]:block" />
        <Minus aria-hidden strokeWidth={3} className="hidden size-[11px] group-data-[state=indeterminate]:block" />
      </Radix.Indicator>
    </Radix.Root>
  );
}
