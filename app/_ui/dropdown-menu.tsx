'use client';

import { Check } from 'lucide-react';
import * as Radix from 'radix-ui/dropdown-menu';
import type { ComponentProps } from 'react';
import { cn } from './cn.ts';

/** Usage: `<Menu><MenuTrigger asChild><IconButton …/></MenuTrigger><MenuContent><MenuItem onSelect={…}>…`. */
export const Menu = Radix.Root;
export const MenuTrigger = Radix.Trigger;
export const MenuRadioGroup = Radix.RadioGroup;

const item =
  'flex min-h-7 items-center gap-2 rounded-sm px-2 py-1 text-13 outline-none select-none focus-visible:shadow-[inset_0_0_0_2px_var(--brand-text)] data-[disabled]:text-ink-off data-[highlighted]:bg-hover pointer-coarse:min-h-(--touch) [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-ink-3';

export function MenuContent({
  className,
  sideOffset = 4,
  align = 'end',
  ...props
}: ComponentProps<typeof Radix.Content>) {
  return (
    // Rendered inside `main`, because screen reader users who navigate by landmarks do not find content outside a
    // landmark.
    <Radix.Portal container={document.querySelector('main')}>
      <Radix.Content
        sideOffset={sideOffset}
        align={align}
        collisionPadding={8}
        {...props}
        className={cn(
          'z-50 max-h-(--radix-dropdown-menu-content-available-height) min-w-44 animate-pop overflow-y-auto rounded-lg bg-raised p-1.5 shadow-float [--cut:var(--raised)]',
          className,
        )}
      />
    </Radix.Portal>
  );
}

export interface MenuItemProps extends ComponentProps<typeof Radix.Item> {
  /** Marks a destructive action, which must lead to a confirmation or offer undo. */
  danger?: boolean;
}

export function MenuItem({ danger = false, className, ...props }: MenuItemProps) {
  return (
    <Radix.Item
      {...props}
      className={cn(
        item,
        danger && 'text-failed-text data-[highlighted]:bg-failed-tint [&_svg]:text-inherit',
        className,
      )}
    />
  );
}

/** One of several choices in a `MenuRadioGroup`. The chosen item has a check mark. */
export function MenuRadioItem({ className, children, ...props }: ComponentProps<typeof Radix.RadioItem>) {
  return (
    <Radix.RadioItem {...props} className={cn(item, 'pe-2', className)}>
      <span className="flex min-w-0 flex-1 items-center gap-2">{children}</span>
      <span className="size-4">
        <Radix.ItemIndicator>
          <Check aria-hidden className="text-brand-text!" />
        </Radix.ItemIndicator>
      </span>
    </Radix.RadioItem>
  );
}

/** One of several independent choices. The menu stays open after a choice. */
export function MenuCheckboxItem({ className, children, ...props }: ComponentProps<typeof Radix.CheckboxItem>) {
  return (
    <Radix.CheckboxItem {...props} onSelect={(event) => event.preventDefault()} className={cn(item, className)}>
      <span className="grid size-[15px] place-items-center rounded-xs shadow-field">
        <Radix.ItemIndicator className="grid size-[15px] place-items-center rounded-xs bg-brand">
          <Check aria-hidden strokeWidth={3} className="size-[11px]! text-on-brand!" />
        </Radix.ItemIndicator>
      </span>
      {children}
    </Radix.CheckboxItem>
  );
}

export function MenuLabel({ className, ...props }: ComponentProps<typeof Radix.Label>) {
  return <Radix.Label {...props} className={cn('px-2 pt-1.5 pb-1 text-11 font-medium text-ink-3', className)} />;
}

export function MenuSeparator() {
  return <Radix.Separator className="-mx-1.5 my-1.5 h-px bg-line-subtle" />;
}
