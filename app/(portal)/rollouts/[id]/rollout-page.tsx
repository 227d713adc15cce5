'use client';

import { useQuery } from '@tanstack/react-query';
import dynamic from 'next/dynamic';
import { useEffect, useState } from 'react';
import { useTRPC } from '#app/_lib/trpc.tsx';
import type { ShownRollout } from '../rollout-data.ts';
import { FailuresCard, ParkedCard } from './causes-cards.tsx';
import { CountsStrip } from './counts-strip.tsx';
import { NextCard } from './next-card.tsx';
import { RingsCard } from './rings-card.tsx';
import { RolloutHead } from './rollout-head.tsx';
import { addressOfSteps, type StepsFilter } from './steps-address.ts';
import { WhyCard } from './why-card.tsx';

// Rendered by the server; their scripts follow the page's.
const CellsCard = dynamic(() => import('./cells-card.tsx').then((module) => module.CellsCard));
const CurveCard = dynamic(() => import('./curve-card.tsx').then((module) => module.CurveCard));
const RecordCard = dynamic(() => import('./record-card.tsx').then((module) => module.RecordCard));
const StepsCard = dynamic(() => import('./steps-card.tsx').then((module) => module.StepsCard));

export interface RolloutPageProps {
  /** The rollout as the server read it at `readAt` (milliseconds since 1970). */
  first: ShownRollout;
  readAt: number;
  /** The filter of the table of VMs. */
  filter: StepsFilter;
}

/** One rollout. Each card loads and fails independently. */
export function RolloutPage({ first, readAt, filter: initial }: RolloutPageProps) {
  const trpc = useTRPC();
  const { data: rollout } = useQuery({
    ...trpc.rollouts.get.queryOptions({ id: first.id }),
    initialData: first,
    initialDataUpdatedAt: readAt,
  });
  const [filter, setFilter] = useState(initial);
  useEffect(() => {
    const parts = addressOfSteps(filter);
    const query = parts === '' ? '' : `?${parts}`;
    if (window.location.search !== query) {
      window.history.replaceState(window.history.state, '', `${window.location.pathname}${query}`);
    }
  }, [filter]);
  const show = (next: StepsFilter) => {
    setFilter(next);
    document.getElementById('steps')?.scrollIntoView({ block: 'start' });
  };
  const isPlanned = rollout.counts.members > 0;
  const { failed, reverted, parked } = rollout.counts;
  return (
    <>
      <RolloutHead rollout={rollout} />
      <WhyCard rollout={rollout} onShowFailed={() => show({ state: 'failed' })} />
      {isPlanned ? <CountsStrip rollout={rollout} /> : null}
      <div className="grid grid-cols-[minmax(0,1fr)_var(--aside)] items-start gap-4 max-lg:grid-cols-[minmax(0,1fr)]">
        <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-4">
          {failed + reverted > 0 ? <FailuresCard rollout={rollout} onShow={show} /> : null}
          <RingsCard rollout={rollout} />
          {isPlanned ? <CellsCard rollout={rollout} /> : null}
          <CurveCard rollout={rollout} />
        </div>
        <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-4">
          <NextCard rollout={rollout} />
          {parked > 0 ? <ParkedCard rollout={rollout} onShow={show} /> : null}
          <RecordCard rollout={rollout} />
        </div>
      </div>
      {isPlanned ? <StepsCard rollout={rollout} filter={filter} onChange={setFilter} /> : null}
    </>
  );
}
