'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useTicking } from '#app/_ui/clock.ts';
import { periodToRequest, type Range, spans } from './span.ts';

/**
 * Interval in milliseconds at which events are reloaded, because time alone can change health. Live updates report
 * other changes.
 */
const reloadMs = 30_000;

/** Loads the events of a VM within `range`. The requested period stays the same until the next quantum begins. */
export function useTimeline(vmId: string, range: Range) {
  const trpc = useTRPC();
  const from = Number(useTicking((now) => String(periodToRequest(range, now).from)));
  const to = from + spans[range].past + spans[range].quantum;
  return useQuery({
    ...trpc.instanceViews.timeline.queryOptions({
      vmId,
      from: new Date(from).toISOString(),
      to: new Date(to).toISOString(),
    }),
    placeholderData: keepPreviousData,
    refetchInterval: reloadMs,
  });
}
