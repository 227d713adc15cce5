'use client';

import { type FocusEvent, useMemo, useState } from 'react';
import { missingValues } from '#app/_lib/missing-values.ts';
import type { ProblemFault } from '#app/_lib/problem.ts';
import type { FormFaults } from './faults.ts';

/** The faults of a run's parameters, as the form of parameters takes them, and the handler that notes visited fields. */
export interface OwnFaults {
  own: readonly ProblemFault[];
  onBlur(event: FocusEvent): void;
}

/** Returns the faults of the change, except values that are missing in fields that the reader has not visited yet. */
export function useOwnFaults(faults: FormFaults): OwnFaults {
  const [visited, setVisited] = useState<ReadonlySet<string>>(new Set());
  const own = useMemo(
    () =>
      faults
        .below('/change')
        .map((fault) => ({ ...fault, path: fault.path.slice('/change'.length) }))
        .filter(({ code, path }) => faults.insists || !missingValues.has(code) || visited.has(placeOf(path))),
    [faults, visited],
  );
  const onBlur = ({ target }: FocusEvent) => {
    const at = target.closest('[data-at]')?.getAttribute('data-at') ?? '';
    if (at !== '') setVisited((before) => (before.has(at) ? before : new Set([...before, at])));
  };
  return { own, onBlur };
}

/** Returns the `data-at` of the field that a fault belongs to. */
const placeOf = (path: string): string =>
  path.replace(/^\/parameters/, '').replace(/^\/secretParameters/, 'protected:');
