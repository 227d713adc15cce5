'use client';

import { useQuery } from '@tanstack/react-query';
import { Table2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { IconButton } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import type { CurvePoint } from '#server/domain/rollouts/index.ts';
import type { ShownRollout } from '../rollout-data.ts';
import { curveSeries } from './curve-series.ts';
import { Plot } from './plot.tsx';

/** The ring that was compared last; null if none was. */
function comparedRing({ rings }: ShownRollout): number | null {
  const ring = rings.findLastIndex(
    ({ state, verdicts }) =>
      state !== 'waiting' && verdicts.some(({ gate, code }) => gate === 'compare' && code !== 'compare_none'),
  );
  return ring < 0 ? null : ring;
}

/** Whether changed VMs fail more often than unchanged ones: the sentence, two curves, and the numbers as a table. */
export function CurveCard({ rollout }: { rollout: ShownRollout }) {
  const ring = comparedRing(rollout);
  return ring === null ? null : <Compared rollout={rollout} ring={ring} />;
}

function Compared({ rollout, ring }: { rollout: ShownRollout; ring: number }) {
  const { t } = useTranslation('rollouts');
  const trpc = useTRPC();
  const [isTable, setTable] = useState(false);
  const curve = useQuery(trpc.rollouts.curve.queryOptions({ id: rollout.id, ring }));
  const points = curve.data?.items ?? [];
  const last = points.at(-1);
  return (
    <Card aria-labelledby="curve">
      <CardHeader
        id="curve"
        title={t('live.curve')}
        note={t('live.curve.ring', { ring: rollout.rings[ring]?.name ?? '' })}
        actions={
          <IconButton size="sm" label={t('live.cells.table')} aria-pressed={isTable} onClick={() => setTable(!isTable)}>
            <Table2 aria-hidden />
          </IconButton>
        }
      />
      {curve.error && !curve.data ? (
        <QueryError title={t('live.curve.failed')} error={curve.error} onRetry={curve.refetch} />
      ) : curve.isPending ? (
        <SkeletonRows columns={['w-full']} rows={3} label={t('live.steps.loading')} />
      ) : last === undefined || last.pairs === 0 || points.length < 2 ? (
        <p className="px-4 pb-4 text-ink-2">{t('live.curve.few')}</p>
      ) : (
        <>
          <Sentence last={last} />
          {isTable ? (
            <CurveTable points={points} />
          ) : (
            <Curves rollout={rollout} ring={ring} points={points} last={last} />
          )}
        </>
      )}
    </Card>
  );
}

/** What the pairs say, in one sentence. */
function useSentenceOf(last: CurvePoint): string {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  return t('live.curve.sentence', {
    pairs: format.number(last.pairs),
    changed: format.number(last.changedFirst),
    control: format.number(last.controlFirst),
  });
}

function Sentence({ last }: { last: CurvePoint }) {
  return <p className="px-4 pb-3 font-medium text-pretty">{useSentenceOf(last)}</p>;
}

interface CurvesProps {
  rollout: ShownRollout;
  ring: number;
  points: readonly CurvePoint[];
  last: CurvePoint;
}

function Curves({ rollout: { rings }, ring, points, last }: CurvesProps) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const sentence = useSentenceOf(last);
  const lines = curveSeries(points);
  const errors = rings[ring]?.verdicts.find(({ code }) => code === 'errors_percent');
  const limit = Number(errors?.params.limit ?? Number.NaN);
  const haltsAt = format.number(last.haltsAt);
  return (
    <div className="px-4 pb-4">
      <div className="grid grid-cols-2 gap-x-8 gap-y-5 max-sm:grid-cols-[minmax(0,1fr)]">
        <Plot
          label={t('live.curve.named', { title: t('live.curve.failedShare'), sentence })}
          title={t('live.curve.failedShare')}
          times={lines.times}
          series={[
            {
              name: t('live.curve.changed', { failed: format.number(last.failed), of: format.number(last.decided) }),
              values: lines.changed,
            },
            {
              name: t('live.curve.control', {
                failed: format.number(last.controlFirst + last.both),
                of: format.number(last.pairs),
              }),
              values: lines.unchanged,
              isDashed: true,
            },
          ]}
          limit={
            Number.isNaN(limit)
              ? null
              : {
                  name: t('live.curve.limit', { limit: format.number(limit) }),
                  values: lines.times.map(() => limit / 100),
                }
          }
          show={(value) => format.number(value, { style: 'percent', maximumFractionDigits: value < 0.1 ? 1 : 0 })}
        />
        <Plot
          label={t('live.curve.named', { title: t('live.curve.first'), sentence })}
          title={t('live.curve.first')}
          times={lines.times}
          series={[
            { name: t('live.curve.difference', { n: format.number(last.difference) }), values: lines.difference },
          ]}
          limit={{ name: t('live.curve.threshold', { n: haltsAt }), values: lines.haltsAt }}
          band={{ name: t('live.curve.band'), low: lines.low, high: lines.high }}
          show={(value) => format.number(Math.round(value))}
        />
      </div>
      <p className="mt-3 max-w-[90ch] text-12 text-pretty text-ink-3">
        {t('live.curve.how', {
          n: haltsAt,
          low: format.percent(last.low),
          high: format.percent(last.high),
        })}
      </p>
    </div>
  );
}

function CurveTable({ points }: { points: readonly CurvePoint[] }) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const names = [
    'decided',
    'failed',
    'pairs',
    'changedFirst',
    'controlFirst',
    'both',
    'difference',
    'haltsAt',
  ] as const;
  return (
    <TableFrame label={t('live.curve')} className="max-h-80 overflow-y-auto">
      <Table>
        <THead>
          <tr>
            <Th>{t('live.curve.at')}</Th>
            {names.map((name) => (
              <Th key={name} end>
                {t(`live.curve.column.${name}`)}
              </Th>
            ))}
            <Th end>{t('live.curve.column.band')}</Th>
          </tr>
        </THead>
        <TBody>
          {points.map((point) => (
            <Tr key={point.at}>
              <Td>
                <DateTime value={new Date(point.at)} />
              </Td>
              {names.map((name) => (
                <Td key={name} end className="tabular-nums">
                  {format.number(point[name])}
                </Td>
              ))}
              <Td end className="tabular-nums">
                {format.percent(point.low)}–{format.percent(point.high)}
              </Td>
            </Tr>
          ))}
        </TBody>
      </Table>
    </TableFrame>
  );
}
