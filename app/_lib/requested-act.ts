'use client';

import { useEffect, useRef } from 'react';

/** Actions of a page that can be requested from anywhere. */
export type ActName = 'enroll' | 'invite' | 'createModel';

let wanted: ActName | null = null;
const listeners = new Set<() => void>();

/** Requests an action from the page that provides it. The action runs now, or once that page is open. Browser only. */
export function requestAct(name: ActName): void {
  wanted = name;
  for (const listen of listeners) listen();
}

/** Runs an action when it is requested elsewhere, such as in the command palette. */
export function useRequestedAct(name: ActName, begin: () => void): void {
  const latest = useRef(begin);
  useEffect(() => {
    latest.current = begin;
  });
  useEffect(() => {
    function look() {
      if (wanted !== name) return;
      wanted = null;
      latest.current();
    }
    look();
    listeners.add(look);
    return () => void listeners.delete(look);
  }, [name]);
}
