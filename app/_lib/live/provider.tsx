'use client';

import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useState, useSyncExternalStore } from 'react';
import { isSignedOut } from '../session.ts';
import { LiveConnection, type LiveState } from './connection.ts';
import { LateHints } from './late-hints.ts';
import { openStream } from './open-stream.ts';
import { concerns, type LiveChange } from './topics.ts';

export interface LiveProviderProps {
  /** Position of the first page's data in the stream of changes. */
  startAt: string | undefined;
  children: ReactNode;
}

const LiveContext = createContext<LiveConnection | undefined>(undefined);
const connecting: LiveState = { phase: 'connecting' };

/**
 * Keeps every query below it up to date: changes in the portal are loaded within a second. Pages only need to load
 * their data through `useTRPC()`.
 */
export function LiveProvider({ startAt, children }: LiveProviderProps) {
  const queryClient = useQueryClient();
  const [lately] = useState(() => new LateHints());
  const [connection] = useState(() => {
    const invalidate = (changes: readonly LiveChange[] | 'reset') => {
      lately.heard(changes, Date.now());
      void queryClient.invalidateQueries(
        changes === 'reset' ? {} : { predicate: (query) => concerns(query.queryKey, changes) },
      );
    };
    return new LiveConnection({ open: openStream, isSignedOut }, invalidate, startAt);
  });
  useEffect(
    () =>
      queryClient.getQueryCache().subscribe(({ type, query }) => {
        if (type !== 'added' || !lately.concern(query.queryKey, Date.now())) return;
        queueMicrotask(() => void queryClient.invalidateQueries({ queryKey: query.queryKey, exact: true }));
      }),
    [queryClient, lately],
  );
  useEffect(() => {
    const end = connection.start();
    window.addEventListener('online', connection.retryNow);
    return () => {
      window.removeEventListener('online', connection.retryNow);
      end();
    };
  }, [connection]);
  return <LiveContext value={connection}>{children}</LiveContext>;
}

/** Returns the state of the live connection, and a function that retries now. */
export function useLive(): LiveState & { retryNow(): void } {
  const connection = useContext(LiveContext);
  if (connection === undefined) throw new Error('useLive stands outside LiveProvider.');
  const state = useSyncExternalStore(connection.subscribe, connection.getState, () => connecting);
  return { ...state, retryNow: connection.retryNow };
}
