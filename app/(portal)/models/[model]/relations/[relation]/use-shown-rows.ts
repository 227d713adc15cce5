'use client';

import { useState } from 'react';
import type { RelationEvent } from '../relation-data.ts';
import type { EventsRead } from '../use-relation.ts';

const step = 25;

/** Shows more rows on request: first those that are loaded, then those of the next page. */
export function useShownRows(events: readonly RelationEvent[], query: EventsRead['query']) {
  const [count, setCount] = useState(step);
  return {
    shown: events.slice(0, count),
    hasMore: count < events.length || query.hasNextPage,
    more() {
      setCount(count + step * 2);
      if (count + step * 2 > events.length && query.hasNextPage) void query.fetchNextPage();
    },
  };
}
