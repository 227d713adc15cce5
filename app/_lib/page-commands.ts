'use client';

import type { LucideIcon } from 'lucide-react';
import { useEffect, useRef, useSyncExternalStore } from 'react';

/** An action of the open page, which the command palette lists. */
export interface PageCommand {
  id: string;
  label: string;
  icon: LucideIcon;
  /** URL of the page that the action opens. If absent, `run` acts on the open page. */
  href?: string;
  run?(): void;
}

/** The actions of a page and what they apply to, such as the name of a VM. */
export interface PageCommands {
  heading: string;
  commands: readonly PageCommand[];
}

let current: PageCommands | null = null;
const listeners = new Set<() => void>();

function setCurrent(next: PageCommands | null): void {
  current = next;
  for (const listen of listeners) listen();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Lists the actions of this page in the command palette while the component is mounted. */
export function usePageCommands(page: PageCommands): void {
  const latest = useRef(page);
  const signature = [page.heading, ...page.commands.map(({ id, label }) => `${id} ${label}`)].join('\n');
  useEffect(() => {
    latest.current = page;
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the signature changes whenever the list changes
  useEffect(() => {
    const { heading, commands } = latest.current;
    const own: PageCommands = {
      heading,
      commands: commands.map((command) => ({
        ...command,
        ...(command.run && { run: () => latest.current.commands.find(({ id }) => id === command.id)?.run?.() }),
      })),
    };
    setCurrent(own);
    return () => {
      if (current === own) setCurrent(null);
    };
  }, [signature]);
}

/** Returns the actions of the open page; null if it has none. */
export const useCurrentPageCommands = (): PageCommands | null =>
  useSyncExternalStore(
    subscribe,
    () => current,
    () => null,
  );
