'use client';

import dynamic from 'next/dynamic';
import { Card } from '#app/_ui/card.tsx';
import type { InstanceDetails } from '../vm-data.ts';
import { footHeights, headHeight, laneCount, laneHeight, shownLanes } from './measures.ts';

const TimeCard = dynamic(() => import('./time-card.tsx').then((module) => module.TimeCard), { ssr: false });

/**
 * Returns the card's minimum height in pixels: the header, the clock, the lanes, the space below them, and the padding.
 * Reserves space before the axis loads.
 */
const heightOf = (extensions: number): number =>
  44 +
  headHeight +
  laneHeight * laneCount(Math.min(extensions, shownLanes)) +
  (extensions > shownLanes ? footHeights.button : footHeights.notes) +
  6;

/** Reserves the space of the timeline, which is loaded after the page. */
export function TimeBox({ view }: { view: InstanceDetails }) {
  return (
    <Card
      className="pb-1.5 [--axis-run:color-mix(in_oklab,var(--progressing-solid)_68%,var(--surface))] [--axis-wait:var(--press)] [--axis-warning:color-mix(in_oklab,var(--warning-solid)_64%,var(--surface))]"
      style={{ minHeight: heightOf(view.extensions.length) }}
    >
      <TimeCard view={view} />
    </Card>
  );
}
