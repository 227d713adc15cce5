'use client';

import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createTRPCClient, httpBatchLink, httpSubscriptionLink, splitLink, type TRPCClient } from '@trpc/client';
import { createTRPCContext } from '@trpc/tanstack-react-query';
import { type ReactNode, useState } from 'react';
import superjson from 'superjson';
import type { AppRouter } from '#server/trpc/root.ts';
import { problemOf } from './problem.ts';

const { TRPCProvider, useTRPC, useTRPCClient } = createTRPCContext<AppRouter>();

export { useTRPC, useTRPCClient };

/** Ids of a page's selection make long inputs; above this, a batch is split. */
const longestUrl = 2000;

/** The library refuses some names that settings may well have, such as `constructor`: plain JSON has room for them. */
const transformer = {
  input: {
    serialize(value: unknown): ReturnType<typeof superjson.serialize> {
      try {
        return superjson.serialize(value);
      } catch {
        return { json: JSON.parse(JSON.stringify(value ?? null)) };
      }
    },
    deserialize: superjson.deserialize,
  },
  output: superjson,
};

function makeClient(): TRPCClient<AppRouter> {
  const url = '/api/trpc';
  return createTRPCClient<AppRouter>({
    links: [
      splitLink({
        condition: (op) => op.type === 'subscription',
        true: httpSubscriptionLink({ url, transformer }),
        false: httpBatchLink({ url, transformer, maxURLLength: longestUrl }),
      }),
    ],
  });
}

function makeQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        // A browser without the internet says it is offline, and may stand beside the portal all the same.
        networkMode: 'always',
        // What changed is told by the live connection; the clock is only the net below it.
        staleTime: 30_000,
        refetchOnWindowFocus: false,
        retry: (failures, error) => problemOf(error).offline && failures < 2,
      },
      mutations: { networkMode: 'always' },
    },
  });
}

/** Queries and mutations for everything below: `useTRPC()` with TanStack Query's hooks. */
export function DataProvider({ children }: { children: ReactNode }) {
  const [queryClient] = useState(makeQueryClient);
  const [client] = useState(makeClient);
  return (
    <QueryClientProvider client={queryClient}>
      <TRPCProvider trpcClient={client} queryClient={queryClient}>
        {children}
      </TRPCProvider>
    </QueryClientProvider>
  );
}
