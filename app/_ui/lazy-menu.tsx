'use client';

import { Slot } from 'radix-ui/slot';
import { type ReactNode, useState } from 'react';

type MenuParts = typeof import('./dropdown-menu.tsx');

export interface LazyMenuProps {
  /** The button that opens the menu: a `Button` or an `IconButton`. */
  trigger: ReactNode;
  /**
   * Renders the contents from the components that it receives: `({ MenuItem }) => <MenuItem onSelect={…}>…</MenuItem>`.
   */
  children(parts: MenuParts): ReactNode;
  align?: 'start' | 'center' | 'end';
}

const load = () => import('./dropdown-menu.tsx');

/** A menu whose script (30 KB) is loaded on demand. Use it instead of `Menu` on pages. */
export function LazyMenu({ trigger, children, align = 'end' }: LazyMenuProps) {
  const [parts, setParts] = useState<MenuParts>();
  if (parts === undefined) {
    const open = () => void load().then(setParts, () => {});
    return (
      <Slot
        aria-haspopup="menu"
        aria-expanded={false}
        onPointerEnter={() => void load().catch(() => {})}
        onClick={open}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown') open();
        }}
      >
        {trigger}
      </Slot>
    );
  }
  const { Menu, MenuTrigger, MenuContent } = parts;
  return (
    <Menu modal={false} defaultOpen>
      <MenuTrigger asChild>{trigger}</MenuTrigger>
      <MenuContent align={align}>{children(parts)}</MenuContent>
    </Menu>
  );
}
