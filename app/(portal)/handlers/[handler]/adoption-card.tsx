'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useThrottledReload } from '#app/_lib/use-throttled-reload.ts';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { Segmented } from '#app/_ui/segmented.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { AdoptionChart } from './adoption-chart.tsx';
import { layersOf } from './adoption-layers.ts';
import { AdoptionTable } from './adoption-table.tsx';
import type { Handler } from './handler-data.ts';
import { seriesOf } from './series.ts';

const ranges = ['7d', '60d', '1y'] as const;
type Range = (typeof ranges)[number];
const days: Readonly<Record<Range, number>> = { '7d': 7, '60d': 60, '1y': 365 };
const dayMs = 86_400_000;

/** The number of VMs per version over time, as a chart and as a table. */
export function AdoptionCard({ handler }: { handler: Handler }) {
  const { t } = useTranslation('packages');
  const trpc = useTRPC();
  const [range, setRange] = useState<Range>('60d');
  const adoption = useQuery({
    ...trpc.handlers.adoption.queryOptions({ handler: handler.handler, range }),
    placeholderData: keepPreviousData,
  });
  const from = new Date(Math.floor(Date.now() / dayMs) * dayMs - days[range] * dayMs).toISOString();
  const rings = { handler: handler.handler, from };
  const openings = useQuery({
    ...trpc.rollouts.ringOpenings.queryOptions(rings),
    placeholderData: keepPreviousData,
    enabled: false,
  });
  const queryKey = trpc.rollouts.ringOpenings.queryKey(rings);
  useThrottledReload({ queryKey, refetch: openings.refetch, agesMs: 300_000, pauseMs: 10_000 });
  const counted = adoption.data;
  const stack =
    counted && layersOf(counted, seriesOf(handler.versions), handler.versions, new Date(adoption.dataUpdatedAt));
  return (
    <Card>
      <CardHeader
        title={t('adoption.title')}
        note={t(`adoption.note.${range}`)}
        actions={
          <Segmented<Range>
            label={t('adoption.range')}
            value={range}
            onChange={setRange}
            options={ranges.map((value) => ({ value, label: t(`adoption.range.${value}`) }))}
          />
        }
      />
      <CardBody
        className={handler.vms > 0 ? 'min-h-[276px]' : undefined}
        aria-busy={adoption.isPending || adoption.isPlaceholderData}
      >
        {adoption.error && !counted ? (
          <QueryError error={adoption.error} onRetry={adoption.refetch} at={new Date(adoption.errorUpdatedAt)} />
        ) : stack === undefined ? null : stack.layers.length === 0 ? (
          <p className="text-ink-2">
            <Trans text={t('adoption.none')} tags={{ vms: <TextLink href="/vms" /> }} />
          </p>
        ) : (
          <>
            <AdoptionChart
              {...stack}
              handler={handler.handler}
              from={new Date(adoption.dataUpdatedAt - days[range] * dayMs)}
              openings={openings.data?.items ?? []}
            />
            <AdoptionTable {...stack} />
          </>
        )}
      </CardBody>
    </Card>
  );
}
