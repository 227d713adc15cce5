'use client';

import { Slot } from 'radix-ui/slot';
import { type ReactNode, useState } from 'react';

type MenuParts = typeof import('./dropdown-menu.tsx');

export interface LazyMenuProps<More> {
  /** The button that opens the menu: a `Button` or an `IconButton`. */
  trigger: ReactNode;
  /** Loads further components for the contents of this menu, in parallel with the menu itself. */
  load?(): Promise<More>;
  /**
   * Renders the contents from the components that it receives: `({ MenuItem }) => <MenuItem onSelect={…}>…</MenuItem>`.
   */
  children(parts: MenuParts & More): ReactNode;
  align?: 'start' | 'center' | 'end';
}

const loadMenu = () => import('./dropdown-menu.tsx');

/** Focuses the first item. The menu would focus it only if it had been mounted before the key was pressed. */
function focusFirstItem(menu: HTMLElement | null): void {
  menu?.querySelector<HTMLElement>('[role^="menuitem"]:not([data-disabled])')?.focus({ preventScroll: true });
}

/** A menu whose script (30 KB) is loaded on demand. Use it instead of `Menu` on pages. */
export function LazyMenu<More = unknown>({ trigger, load, children, align = 'end' }: LazyMenuProps<More>) {
  const [parts, setParts] = useState<MenuParts & More>();
  const [isFirstByKey, setFirstByKey] = useState(false);
  if (parts === undefined) {
    const loadAll = async () => {
      const [menu, more] = await Promise.all([loadMenu(), load?.()]);
      return { ...menu, ...more } as MenuParts & More;
    };
    const open = (byKey: boolean) => {
      setFirstByKey(byKey);
      void loadAll().then(setParts, () => {});
    };
    return (
      <Slot
        aria-haspopup="menu"
        aria-expanded={false}
        onPointerEnter={() => void loadAll().catch(() => {})}
        // The click of a key has no count of presses.
        onClick={(event) => open(event.detail === 0)}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown') open(true);
        }}
      >
        {trigger}
      </Slot>
    );
  }
  const { Menu, MenuTrigger, MenuContent } = parts;
  return (
    <Menu modal={false} defaultOpen onOpenChange={() => setFirstByKey(false)}>
      <MenuTrigger asChild>{trigger}</MenuTrigger>
      <MenuContent align={align} ref={isFirstByKey ? focusFirstItem : undefined}>
        {children(parts)}
      </MenuContent>
    </Menu>
  );
}
