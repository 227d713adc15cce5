'use client';

import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTRPCClient } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { toast } from '#app/_ui/toast.tsx';
import { cellOf } from '../moments.ts';
import type { RelationName } from '../relation-data.ts';

/** The masked values that the reader revealed. The activity log records each time. */
export interface Revealed {
  /** Returns a value that was shown at this version; undefined if it was not. */
  value(unit: string, key: string, version: number): string | undefined;
  show(unit: string): void;
  /** The unit whose values are being loaded. */
  busy: string | null;
}

/** Loads the masked values of a unit on request. They are forgotten when the page is closed. */
export function useRevealed({ model, number }: RelationName, at: number | null): Revealed {
  const client = useTRPCClient();
  const explain = useProblem();
  const [values, setValues] = useState<ReadonlyMap<string, string>>(new Map());
  const reveal = useMutation({
    mutationFn: (unit: string) =>
      client.relations.reveal.mutate({ model, number, unit, ...(at !== null && { at: String(at) }) }),
    onSuccess: ({ unit, version, settings }) =>
      setValues((known) => {
        const shown = settings.flatMap(({ key, value, masked }) =>
          masked && value !== null ? [[`${cellOf(unit, key)} ${version}`, value] as const] : [],
        );
        return new Map([...known, ...shown]);
      }),
    onError: (error) => toast(explain(error).message),
  });
  return {
    value: (unit, key, version) => values.get(`${cellOf(unit, key)} ${version}`),
    show: (unit) => reveal.mutate(unit),
    busy: reveal.isPending ? reveal.variables : null,
  };
}
