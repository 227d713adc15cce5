'use client';

import Link from 'next/link';
import { usePathname } from 'next/navigation';
import * as Radix from 'radix-ui/tabs';
import type { ComponentProps, ReactNode } from 'react';
import { cn } from './cn.ts';

const bar =
  'mb-5 flex gap-5 overflow-x-auto border-b border-line-subtle [scrollbar-width:none] max-sm:-mx-(--gutter) max-sm:mb-4 max-sm:gap-[18px] max-sm:px-(--gutter)';
const tab =
  'inline-flex h-9 shrink-0 items-center gap-1.5 border-b-2 border-transparent text-ink-2 whitespace-nowrap hover:text-ink focus-visible:shadow-[inset_0_0_0_2px_var(--brand-text)] pointer-coarse:h-11';

export interface TabLink {
  href: string;
  label: ReactNode;
  /** A figure after the word. */
  count?: ReactNode;
  /** By default: the path equals `href`. */
  current?: boolean;
}

/** Views of one thing that each have an address. */
export function TabLinks({ label, tabs }: { label: string; tabs: readonly TabLink[] }) {
  const path = usePathname();
  return (
    <nav aria-label={label} className={bar}>
      {tabs.map(({ href, label: word, count, current = path === href.split('?')[0] }) => (
        <Link
          key={href}
          href={href}
          aria-current={current ? 'page' : undefined}
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

/** Views without an address: `<Tabs defaultValue="a"><TabList>…<Tab value="a">…</TabList><TabPanel value="a">`. */
export const Tabs = Radix.Root;
export const TabPanel = Radix.Content;

export function TabList({ className, ...props }: ComponentProps<typeof Radix.List>) {
  return <Radix.List {...props} className={cn(bar, className)} />;
}

export function Tab({ className, ...props }: ComponentProps<typeof Radix.Trigger>) {
  return (
    <Radix.Trigger
      {...props}
      className={cn(
        tab,
        'data-[state=active]:border-brand-text data-[state=active]:font-medium data-[state=active]:text-ink',
        className,
      )}
    />
  );
}
