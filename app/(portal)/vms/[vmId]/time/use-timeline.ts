'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useTicking } from '#app/_ui/clock.ts';
import { askedFor, type Range, spans } from './span.ts';

/** Live hints bring news; this is for what ages while nobody writes. */
const againMs = 30_000;

/** What happened to a VM as far back as `range`. The same answer serves until the next quantum of time begins. */
export function useTimeline(vmId: string, range: Range) {
  const trpc = useTRPC();
  const from = Number(useTicking((now) => String(askedFor(range, now).from)));
  const to = from + spans[range].past + spans[range].quantum;
  return useQuery({
    ...trpc.instanceViews.timeline.queryOptions({
      vmId,
      from: new Date(from).toISOString(),
      to: new Date(to).toISOString(),
    }),
    placeholderData: keepPreviousData,
    refetchInterval: againMs,
  });
}
