'use client';

import { useState } from 'react';
import type { PackageKind } from '#protocol/formula-words.ts';

export type ShownKind = PackageKind | 'all';

/** Stores which kind of packages a list shows in the URL (`?kind=`). Returns the kind and a setter. */
export function useKindInAddress(initial: ShownKind): [ShownKind, (kind: ShownKind) => void] {
  const [kind, setKind] = useState(initial);
  return [
    kind,
    (next) => {
      setKind(next);
      const address = new URL(window.location.href);
      if (next === 'all') address.searchParams.delete('kind');
      else address.searchParams.set('kind', next);
      window.history.replaceState(window.history.state, '', address);
    },
  ];
}
