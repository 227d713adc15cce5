'use client';

import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createTRPCClient, httpBatchLink, type TRPCClient } from '@trpc/client';
import { createTRPCContext } from '@trpc/tanstack-react-query';
import { type ReactNode, useState } from 'react';
import type { AppRouter } from '#server/trpc/root.ts';
import type { Sent } from '#server/trpc/transformer.ts';
import { problemOf } from './problem.ts';
import { restoreDates } from './restore-dates.ts';

const { TRPCProvider, useTRPC, useTRPCClient } = createTRPCContext<AppRouter>();

export { useTRPC, useTRPCClient };

/** Maximum length of a batch's URL. Inputs can be long, such as the ids of a selection, so a longer batch is split. */
const longestUrl = 2000;

/** The portal's format for calls. In the browser, `serialize` wraps inputs and `deserialize` reads responses. */
const transformer = {
  input: { serialize: (json: unknown): Sent => ({ json }), deserialize: restoreDates },
  output: { serialize: (json: unknown): Sent => ({ json }), deserialize: restoreDates },
};

function makeClient(): TRPCClient<AppRouter> {
  return createTRPCClient<AppRouter>({
    links: [httpBatchLink({ url: '/api/trpc', transformer, maxURLLength: longestUrl })],
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
