'use client';

import { useEffect, useRef } from 'react';

/** Acts of a page that can be asked for from anywhere. */
export type ActName = 'enroll' | 'invite';

let wanted: ActName | null = null;
const listeners = new Set<() => void>();

/** Asks the page that has this act, now or when it is there, to begin it. Browser only. */
export function requestAct(name: ActName): void {
  wanted = name;
  for (const listen of listeners) listen();
}

/** Begins the act when somebody has asked for it elsewhere: in the command palette. */
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
