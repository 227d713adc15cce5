'use client';

import { useSearchParams } from 'next/navigation';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { type FleetQuery, type ReadAddress, readAddress, withoutGaps, writeAddress } from './fleet-address.ts';

const settleMs = 100;

export interface FleetAddress extends ReadAddress {
  /** What stands in the search now; it counts when the typing pauses. */
  search: string;
  setSearch(search: string): void;
  /** Another filter or order: a step that Back undoes. */
  change(query: Partial<FleetQuery>): void;
  /** The address with other words behind `?`. */
  hrefOf(query: FleetQuery): string;
}

/** The list's filter and order, which live in the address. Typing replaces the address, all else adds a step. */
export function useFleetAddress(): FleetAddress {
  const parameters = useSearchParams().toString();
  const read = useMemo(() => readAddress(new URLSearchParams(parameters)), [parameters]);
  const { filter, sort } = read.query;
  const [search, setSearch] = useState(filter.q ?? '');
  const [settled, setSettled] = useState(filter.q ?? '');
  // Back, forward and links change the search, too.
  if ((filter.q ?? '') !== settled) {
    setSettled(filter.q ?? '');
    setSearch(filter.q ?? '');
  }
  const go = useCallback((query: FleetQuery, how: 'pushState' | 'replaceState') => {
    window.history[how](null, '', hrefOf(query));
  }, []);
  useEffect(() => {
    if (search === settled) return;
    const timer = setTimeout(() => {
      setSettled(search);
      go({ filter: withoutGaps({ ...filter, q: search }), sort }, 'replaceState');
    }, settleMs);
    return () => clearTimeout(timer);
  }, [search, settled, filter, sort, go]);
  return {
    ...read,
    search,
    setSearch,
    hrefOf,
    change: ({ filter: other = filter, sort: otherSort = sort }) => {
      go({ filter: withoutGaps(other), sort: otherSort }, 'pushState');
    },
  };
}

function hrefOf(query: FleetQuery): string {
  const words = writeAddress(query);
  return words === '' ? '/vms' : `/vms?${words}`;
}
