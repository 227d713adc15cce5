'use client';

import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { isolateText } from '#protocol/direction.ts';
import { canonicalLanguage } from '#protocol/language.ts';
import type { NamedUnit, ShownRunDetails } from '../unit-data.ts';

export interface FailedReasonProps {
  name: NamedUnit;
  run: string;
  /** The run that the server read. */
  first: ShownRunDetails | undefined;
}

/** What the hook itself said about its failure, in the reader’s language. Nothing if it said nothing. */
export function FailedReason({ name, run, first }: FailedReasonProps) {
  const trpc = useTRPC();
  const { data } = useQuery(trpc.units.run.queryOptions({ ...name, run }));
  const message = (data ?? (first?.id === run ? first : undefined))?.message ?? null;
  if (message === null) return null;
  return (
    <>
      {': '}
      <bdi lang={canonicalLanguage(message.lang) ?? ''}>{isolateText(message.text)}</bdi>
    </>
  );
}
