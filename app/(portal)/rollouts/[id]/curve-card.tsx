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
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { haltsAt } from '#server/domain/rollout-rules/compare.ts';
import type { CurvePoint } from '#server/domain/rollouts/index.ts';
import type { ShownRollout } from '../rollout-data.ts';
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

function Sentence({ last }: { last: CurvePoint }) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  return (
    <p className="px-4 pb-2 font-medium text-pretty">
      {t('live.curve.sentence', {
        pairs: format.number(last.pairs),
        changed: format.number(last.changedFirst),
        control: format.number(last.controlFirst),
      })}
    </p>
  );
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
  const verdicts = rings[ring]?.verdicts ?? [];
  const limit = Number(verdicts.find(({ code }) => code === 'errors_percent')?.params.limit ?? Number.NaN) / 100;
  const compared = rings.filter(({ verdicts: own }) =>
    own.some(({ gate, code }) => gate === 'compare' && code !== 'compare_none'),
  ).length;
  const halts = haltsAt(last.controlFirst, Math.max(1, compared)) - last.controlFirst;
  const times = points.map(({ at }) => Date.parse(at));
  const share = (failed: number, of: number) => (of === 0 ? 0 : failed / of);
  const difference = last.changedFirst - last.controlFirst;
  return (
    <div className="grid grid-cols-2 gap-x-6 gap-y-4 px-4 pb-4 max-sm:grid-cols-[minmax(0,1fr)]">
      <Plot
        title={t('live.curve.failedShare')}
        times={times}
        series={[
          { name: t('live.curve.changed'), values: points.map(({ failed, decided }) => share(failed, decided)) },
          {
            name: t('live.curve.control'),
            values: points.map(({ controlFirst, pairs }) => share(controlFirst, pairs)),
            isDashed: true,
          },
        ]}
        limit={
          Number.isNaN(limit)
            ? null
            : { value: limit, label: t('live.curve.limit', { limit: format.number(limit * 100) }) }
        }
        show={format.percent}
      />
      <Plot
        title={t('live.curve.first')}
        times={times}
        series={[
          {
            name: t('live.curve.difference', { n: format.number(difference) }),
            values: points.map(({ changedFirst, controlFirst }) => changedFirst - controlFirst),
          },
        ]}
        limit={{ value: halts, label: t('live.curve.threshold', { n: format.number(halts) }) }}
        show={(value) => format.number(Math.round(value))}
      />
    </div>
  );
}

function CurveTable({ points }: { points: readonly CurvePoint[] }) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const names = ['decided', 'failed', 'pairs', 'changedFirst', 'controlFirst'] as const;
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
            </Tr>
          ))}
        </TBody>
      </Table>
    </TableFrame>
  );
}
