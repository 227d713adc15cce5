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

/** Maximum length of a batch's URL. Inputs can be long, such as the ids of a selection, so a longer batch is split. */
const longestUrl = 2000;

/** Falls back to plain JSON, because superjson rejects property names that settings may have, such as `constructor`. */
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
        // A browser without internet access reports that it is offline, but may still reach the portal.
        networkMode: 'always',
        // The live connection reports changes, so cached data is rarely stale.
        staleTime: 30_000,
        refetchOnWindowFocus: false,
        retry: (failures, error) => problemOf(error).offline && failures < 2,
      },
      mutations: { networkMode: 'always' },
    },
  });
}

/** Provides queries and mutations to everything below: `useTRPC()` with TanStack Query's hooks. */
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
