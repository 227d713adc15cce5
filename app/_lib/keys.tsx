'use client';

import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from 'react';

/** A keyboard shortcut on this page. */
export interface KeyBinding {
  /**
   * A value of `KeyboardEvent.key`, such as `j`, `Enter` or `Escape`. Two values with a space between them are a
   * sequence, such as `g v`.
   */
  key: string;
  /** Describes the action in the list of shortcuts. */
  label: string;
  run(event: KeyboardEvent): void;
}

interface KeyGroup {
  bindings: readonly KeyBinding[];
  isEverywhere: boolean;
}

interface Registry {
  add(group: KeyGroup): () => void;
  groups: ReadonlySet<KeyGroup>;
}

const KeysContext = createContext<Registry | undefined>(undefined);

/** Time limit for the second key of a sequence, in milliseconds. */
const secondKeyMs = 1_500;

/**
 * Handles shortcuts with one listener per tab. Shortcuts are inactive while the reader types, or while a dialog or menu
 * is open.
 */
export function KeysProvider({ children }: { children: ReactNode }) {
  const [groups, setGroups] = useState<ReadonlySet<KeyGroup>>(new Set());
  useEffect(() => {
    let first: { key: string; at: number } | undefined;
    function press(event: KeyboardEvent) {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTaken(event.target)) return;
      if (event.key === 'Shift') return;
      const bindings = [...bindingsOf(groups, false).reverse(), ...bindingsOf(groups, true)];
      const second =
        first !== undefined && event.timeStamp - first.at < secondKeyMs ? `${first.key} ${event.key}` : null;
      first = undefined;
      const found = bindings.find(({ key }) => key === second) ?? bindings.find(({ key }) => key === event.key);
      if (found !== undefined) found.run(event);
      else if (bindings.some(({ key }) => key.startsWith(`${event.key} `))) {
        first = { key: event.key, at: event.timeStamp };
      }
    }
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [groups]);
  const registry = useMemo<Registry>(
    () => ({
      groups,
      add(group) {
        setGroups((current) => new Set(current).add(group));
        return () =>
          setGroups((current) => {
            const next = new Set(current);
            next.delete(group);
            return next;
          });
      },
    }),
    [groups],
  );
  return <KeysContext value={registry}>{children}</KeysContext>;
}

/**
 * Returns the shortcuts of this page, or the shortcuts that work on every page. The order of registration does not
 * distinguish them: parts of a page may register before the shell, and again after a change of language.
 */
const bindingsOf = (groups: ReadonlySet<KeyGroup>, isEverywhere: boolean): KeyBinding[] =>
  [...groups].filter((group) => group.isEverywhere === isEverywhere).flatMap(({ bindings }) => bindings);

/** Binds shortcuts while the component is mounted, and adds them to the list that `?` shows. */
export function useKeys(bindings: readonly KeyBinding[], { isEverywhere = false } = {}): void {
  const add = useContext(KeysContext)?.add;
  const latest = useRef(bindings);
  const addRef = useRef(add);
  useEffect(() => {
    latest.current = bindings;
    addRef.current = add;
  });
  const signature = bindings.map((binding) => `${binding.key}\u0000${binding.label}`).join('\u0001');
  useEffect(() => {
    if (signature === '') return;
    const own = signature.split('\u0001').map((entry): KeyBinding => {
      const [key = '', label = ''] = entry.split('\u0000');
      return { key, label, run: (event) => latest.current.find((binding) => binding.key === key)?.run(event) };
    });
    return addRef.current?.({ bindings: own, isEverywhere });
  }, [signature, isEverywhere]);
}

/** Returns every active shortcut. */
export function useKeyList(): { everywhere: readonly KeyBinding[]; here: readonly KeyBinding[] } {
  const groups = useContext(KeysContext)?.groups ?? new Set();
  return { everywhere: bindingsOf(groups, true), here: bindingsOf(groups, false) };
}

function isTaken(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName)) {
    return !(target instanceof HTMLInputElement && /^(checkbox|radio|button)$/.test(target.type));
  }
  return target.closest('[role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"]') !== null;
}
