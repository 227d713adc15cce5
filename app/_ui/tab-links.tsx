'use client';

import Link from 'next/link';
import { usePathname } from 'next/navigation';
import type { ReactNode } from 'react';
import { cn } from './cn.ts';
import { scrollIntoBar, tab, tabBar } from './tab-style.ts';

export interface TabLink {
  href: string;
  label: ReactNode;
  /** A number after the label. */
  count?: ReactNode;
  /** Whether this is the current tab; by default, true if the page's path equals the path of `href`. */
  current?: boolean;
}

/** Tabs for views of one object, each with its own URL. */
export function TabLinks({ id, label, tabs }: { id?: string; label: string; tabs: readonly TabLink[] }) {
  const path = usePathname();
  return (
    <nav id={id} aria-label={label} className={tabBar}>
      {tabs.map(({ href, label: word, count, current = path === href.split('?')[0] }) => (
        <Link
          key={href}
          href={href}
          aria-current={current ? 'page' : undefined}
          ref={current ? scrollIntoBar : undefined}
          className={cn(
            tab,
            'aria-[current=page]:border-brand-text aria-[current=page]:font-medium aria-[current=page]:text-ink',
          )}
        >
          {word}
          {count === undefined ? null : <span className="text-11 font-normal text-ink-3 tabular-nums">{count}</span>}
        </Link>
      ))}
    </nav>
  );
}
