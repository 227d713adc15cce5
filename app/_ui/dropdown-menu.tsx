'use client';

import { Check } from 'lucide-react';
import * as Radix from 'radix-ui/dropdown-menu';
import type { ComponentProps } from 'react';
import { cn } from './cn.ts';

/** `<Menu><MenuTrigger asChild><IconButton …/></MenuTrigger><MenuContent><MenuItem onSelect={…}>…`. */
export const Menu = Radix.Root;
export const MenuTrigger = Radix.Trigger;
export const MenuRadioGroup = Radix.RadioGroup;

const item =
  'flex min-h-7 items-center gap-2 rounded-sm px-2 py-1 text-13 outline-none select-none data-[disabled]:text-ink-off data-[highlighted]:bg-hover pointer-coarse:min-h-(--touch) [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-ink-3';

export function MenuContent({
  className,
  sideOffset = 4,
  align = 'end',
  ...props
}: ComponentProps<typeof Radix.Content>) {
  return (
    // Inside the page's landmark: content outside of all landmarks is lost for readers who navigate by them.
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
  /** A destructive action; it must lead to a confirmation or an undo. */
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

/** One of several in a `MenuRadioGroup`; the chosen one has a tick. */
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

/** For several choices; the menu stays open. */
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
