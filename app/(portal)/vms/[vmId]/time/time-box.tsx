'use client';

import dynamic from 'next/dynamic';
import { useSearchParams } from 'next/navigation';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { Segmented } from '#app/_ui/segmented.tsx';
import { putInAddress } from '../put-in-address.ts';
import type { InstanceDetails } from '../vm-data.ts';
import { footHeights, headHeight, laneCount, laneHeight, shownLanes } from './measures.ts';
import { type Range, ranges } from './span.ts';

const TimeCard = dynamic(() => import('./time-card.tsx').then((module) => module.TimeCard), { ssr: false });

/** Returns the minimum height of the axis in pixels: the clock, the lanes and the space below them. */
const heightOf = (extensions: number, hasUnits: boolean): number =>
  headHeight +
  laneHeight * laneCount(Math.min(extensions, shownLanes), hasUnits) +
  (extensions > shownLanes ? footHeights.button : footHeights.notes);

/**
 * The timeline. The server renders its header, whose height depends on the width and the language; the axis is loaded
 * after the page, into reserved space.
 */
export function TimeBox({ view, hasUnits }: { view: InstanceDetails; hasUnits: boolean }) {
  const { t } = useTranslation('timeline');
  const wanted = useSearchParams().get('range');
  const range = ranges.find((each) => each === wanted) ?? ranges[0];
  const [asTable, setAsTable] = useState(false);
  return (
    <Card className="pb-1.5 [--axis-run:color-mix(in_oklab,var(--progressing-solid)_68%,var(--surface))] [--axis-wait:var(--press)] [--axis-warning:color-mix(in_oklab,var(--warning-solid)_64%,var(--surface))]">
      <CardHeader
        title={t('title')}
        actions={
          <>
            <Button
              size="sm"
              variant="ghost"
              aria-pressed={asTable}
              className="max-sm:-ms-2"
              onClick={() => setAsTable(!asTable)}
            >
              {t(asTable ? 'picture' : 'table')}
            </Button>
            <Segmented<Range>
              label={t('range')}
              value={range}
              onChange={putRange}
              options={ranges.map((value) => ({ value, label: t(`range.${value}`) }))}
            />
          </>
        }
      />
      <div style={{ minHeight: heightOf(view.extensions.length, hasUnits) }}>
        <TimeCard view={view} range={range} hasUnits={hasUnits} asTable={asTable} />
      </div>
    </Card>
  );
}

const putRange = (range: Range): void => putInAddress({ range: range === ranges[0] ? null : range });
