'use client';

import { useSearchParams } from 'next/navigation';
import { useCallback, useEffect, useMemo, useState } from 'react';
import type { ListedField } from '#server/domain/fleet/index.ts';
import {
  type FleetQuery,
  type ReadAddress,
  readAddress,
  sortAfter,
  withoutGaps,
  writeAddress,
} from './fleet-address.ts';

const settleMs = 100;

export interface FleetAddress extends ReadAddress {
  /** The filter fields of this portal. */
  fields: readonly ListedField[];
  /** The text in the search field, which applies when typing pauses. */
  search: string;
  setSearch(search: string): void;
  /** Changes the filter or the order. The browser's Back button undoes the change. */
  change(query: Partial<FleetQuery>): void;
  /** Returns the URL of the list with this query. */
  hrefOf(query: FleetQuery): string;
}

/**
 * Returns the filter and order of the list, which are stored in the URL. Typing replaces the URL; any other change adds
 * an entry to the browser's history.
 */
export function useFleetAddress(fields: readonly ListedField[]): FleetAddress {
  const parameters = useSearchParams().toString();
  const read = useMemo(() => readAddress(fields, new URLSearchParams(parameters)), [fields, parameters]);
  const hrefOf = useCallback((query: FleetQuery) => addressOf(fields, query), [fields]);
  const { filter, sort } = read.query;
  const inAddress = filter.q ?? '';
  const [search, setSearch] = useState(inAddress);
  const [known, setKnown] = useState(inAddress);
  /**
   * Search texts that were written to the URL but that the router has not rendered yet. The reader may keep typing in
   * the meantime.
   */
  const [written, setWritten] = useState<readonly string[]>([]);
  if (inAddress !== known) {
    setKnown(inAddress);
    const at = written.indexOf(inAddress);
    setWritten(at < 0 ? [] : written.slice(at + 1));
    // Back, forward and links change the search too.
    if (at < 0) setSearch(inAddress);
  }
  const go = useCallback(
    (query: FleetQuery, how: 'pushState' | 'replaceState') => window.history[how](null, '', hrefOf(query)),
    [hrefOf],
  );
  useEffect(() => {
    if (search === (written.at(-1) ?? inAddress)) return;
    const timer = setTimeout(() => {
      setWritten((earlier) => [...earlier, search]);
      const next = withoutGaps({ ...filter, q: search });
      go({ filter: next, sort: sortAfter({ filter, sort }, next) }, 'replaceState');
    }, settleMs);
    return () => clearTimeout(timer);
  }, [search, written, inAddress, filter, sort, go]);
  return {
    ...read,
    fields,
    search,
    setSearch,
    hrefOf,
    change: ({ filter: other = filter, sort: otherSort = sortAfter({ filter, sort }, other) }) => {
      go({ filter: withoutGaps(other), sort: otherSort }, 'pushState');
    },
  };
}

function addressOf(fields: readonly ListedField[], query: FleetQuery): string {
  const words = writeAddress(fields, query);
  return words === '' ? '/vms' : `/vms?${words}`;
}
