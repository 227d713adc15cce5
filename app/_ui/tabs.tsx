'use client';

import * as Radix from 'radix-ui/tabs';
import type { ComponentProps } from 'react';
import { cn } from './cn.ts';
import { tab, tabBar } from './tab-style.ts';

/** Views without an address, 17 KB; where there is one, use `TabLinks`: `<Tabs defaultValue="a"><TabList>…<Tab value="a">…</TabList><TabPanel value="a">`. */
export const Tabs = Radix.Root;
export const TabPanel = Radix.Content;

export function TabList({ className, ...props }: ComponentProps<typeof Radix.List>) {
  return <Radix.List {...props} className={cn(tabBar, className)} />;
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
