'use client';

import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useState, useSyncExternalStore } from 'react';
import { isSignedOut } from '../session.ts';
import { useTRPCClient } from '../trpc.tsx';
import { LiveConnection, type LiveState, type Source } from './connection.ts';
import { concerns } from './topics.ts';

const LiveContext = createContext<LiveConnection | undefined>(undefined);
const connecting: LiveState = { phase: 'connecting' };

/**
 * Keeps every query below fresh: what changes in the portal is read again within a second. A page needs to do
 * nothing for it but to read through `useTRPC()`.
 */
export function LiveProvider({ children }: { children: ReactNode }) {
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  const [connection] = useState(() => {
    const source: Source = {
      open(lastEventId, on) {
        const subscription = client.live.changes.subscribe(
          { lastEventId: lastEventId ?? null },
          {
            onConnectionStateChange: (state) => {
              if (state.state === 'pending') on.connected();
              else if (state.state === 'connecting' && state.error) on.failed();
            },
            onData: ({ id, data }) => on.received({ ...data, id }),
            onError: () => on.failed(),
            onComplete: () => on.failed(),
          },
        );
        return { close: () => subscription.unsubscribe() };
      },
      isSignedOut,
    };
    return new LiveConnection(source, (changes) => {
      void queryClient.invalidateQueries(
        changes === 'reset' ? {} : { predicate: (query) => concerns(query.queryKey, changes) },
      );
    });
  });
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

/** The state of the live connection, and a way not to wait for the next try. */
export function useLive(): LiveState & { retryNow(): void } {
  const connection = useContext(LiveContext);
  if (connection === undefined) throw new Error('useLive stands outside LiveProvider.');
  const state = useSyncExternalStore(connection.subscribe, connection.getState, () => connecting);
  return { ...state, retryNow: connection.retryNow };
}
