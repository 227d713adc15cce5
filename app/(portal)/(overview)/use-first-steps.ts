'use client';

import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '#app/_lib/trpc.tsx';
import type { OverviewAnswers } from './answers.ts';

type Steps = OverviewAnswers['firstSteps'];

/** A portal with more VMs than this does not count as new. */
const fewVms = 3;

/** Returns the first steps of a portal that is new and has not completed them; otherwise null. */
export function useFirstSteps(first: Steps | undefined, vms: number | undefined): Steps | null {
  const trpc = useTRPC();
  const isNew = vms !== undefined && vms <= fewVms;
  const { data } = useQuery({ ...trpc.overview.firstSteps.queryOptions(), initialData: first, enabled: isNew });
  if (!isNew || data === undefined) return null;
  return data.published && data.enrolled && data.added ? null : data;
}
