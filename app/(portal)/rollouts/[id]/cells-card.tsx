'use client';

import { useQuery } from '@tanstack/react-query';
import { Grid3x3, Table2 } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { IconButton } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { type MemberCount, memberCounts } from '#server/domain/rollout-rules/words.ts';
import { type ShownCells, type ShownRollout, statusOfStep } from '../rollout-data.ts';
import { lookOfState, pathOfShape } from '../step-looks.ts';
import { numbersOfCell, stateOfCell } from './cell-state.ts';
import { useCauseWords } from './use-cause-words.ts';

/** The VMs of a rollout in order, one cell each, or several in a cell if there are too many. */
export function CellsCard({ rollout }: { rollout: ShownRollout }) {
  const { t } = useTranslation('rollouts');
  const trpc = useTRPC();
  const [isTable, setTable] = useState(false);
  const cells = useQuery(trpc.rollouts.cells.queryOptions({ id: rollout.id }));
  const Icon = isTable ? Grid3x3 : Table2;
  return (
    <Card aria-labelledby="cells">
      <CardHeader
        id="cells"
        title={t('live.cells')}
        note={cells.data === undefined ? undefined : t('live.cells.note', { count: cells.data.perCell })}
        actions={
          <IconButton
            size="sm"
            label={t(isTable ? 'live.cells.map' : 'live.cells.table')}
            onClick={() => setTable(!isTable)}
          >
            <Icon aria-hidden />
          </IconButton>
        }
      />
      {cells.error && !cells.data ? (
        <QueryError title={t('live.cells.failed')} error={cells.error} onRetry={cells.refetch} />
      ) : cells.isPending ? (
        <SkeletonRows columns={['w-full']} rows={4} label={t('live.steps.loading')} />
      ) : isTable ? (
        <CountsTable rollout={rollout} />
      ) : (
        <Cells rollout={rollout} cells={cells.data} />
      )}
    </Card>
  );
}

/** The distance between two cells in units of the drawing, and the fewest and most cells in a row. */
const [pitch, narrow, wide] = [10, 10, 76];

/** Returns how many cells are in a row, so that a ring is three times as wide as it is high. */
const columnsOf = (cells: number): number => Math.min(cells, wide, Math.max(narrow, Math.ceil(Math.sqrt(3 * cells))));

function Cells({ rollout, cells: { cells } }: { rollout: ShownRollout; cells: ShownCells }) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const [hovered, setHovered] = useState<ShownCells['cells'][number] | null>(null);
  const shown = memberCounts.filter((state) => rollout.counts[state] > 0);
  return (
    <div className="px-4 pb-4">
      <div className="flex flex-wrap gap-x-6 gap-y-3" onPointerLeave={() => setHovered(null)}>
        {rollout.rings.map((ring, index) => {
          const own = cells.filter((cell) => cell.ring === index);
          return own.length === 0 ? null : (
            <figure key={ring.name} className="min-w-0">
              <figcaption className="mb-1 text-12 text-ink-3">
                <b translate="no" className="font-medium text-ink">
                  {ring.name}
                </b>{' '}
                <span className="tabular-nums">{format.number(ring.size)}</span>
              </figcaption>
              <CellMap
                cells={own}
                label={t('live.ring.lane', { ring: ring.name, counts: countsText(own) })}
                onHover={setHovered}
              />
            </figure>
          );
        })}
      </div>
      <CellWords rollout={rollout} cell={hovered} />
      <ul className="mt-2 flex flex-wrap gap-x-4 gap-y-1 text-12 text-ink-2">
        {shown.map((state) => (
          <li key={state} className="inline-flex items-center gap-1.5">
            <svg aria-hidden viewBox="0 0 8 8" className="size-2.5">
              <StatePath state={state} />
            </svg>
            {t(`step.${state}`)}
          </li>
        ))}
      </ul>
    </div>
  );

  function countsText(own: ShownCells['cells']): string {
    const sums = memberCounts.flatMap((state) => {
      const n = own.reduce((sum, { counts }) => sum + (counts[state] ?? 0), 0);
      return n > 0 ? [`${format.number(n)} ${t(`step.${state}`)}`] : [];
    });
    return format.list(sums);
  }
}

interface CellMapProps {
  cells: ShownCells['cells'];
  label: string;
  onHover(cell: ShownCells['cells'][number]): void;
}

/** The cells of one ring. The table of VMs below the map has the same VMs for the keyboard. */
function CellMap({ cells, label, onHover }: CellMapProps) {
  const router = useRouter();
  const columns = columnsOf(cells.length);
  const rows = Math.ceil(cells.length / columns);
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${columns * pitch} ${rows * pitch}`}
      style={{ width: columns * pitch }}
      className="h-auto max-w-full rtl:-scale-x-100"
    >
      {cells.map((cell, index) => {
        const { vm } = cell;
        return (
          // biome-ignore lint/a11y/noStaticElementInteractions: the table of VMs has links to the same VMs
          <g
            key={cell.place}
            transform={`translate(${(index % columns) * pitch + 1} ${Math.floor(index / columns) * pitch + 1})`}
            className={vm === null ? undefined : 'cursor-pointer'}
            onPointerEnter={() => onHover(cell)}
            onClick={vm === null ? undefined : () => router.push(`/vms/${vm.vmId}`)}
          >
            <rect x={-1} y={-1} width={pitch} height={pitch} fill="transparent" />
            <StatePath state={stateOfCell(cell)} />
          </g>
        );
      })}
    </svg>
  );
}

/** The shape of a state, in a square of 8 units. */
function StatePath({ state }: { state: MemberCount }) {
  const { color, shape } = lookOfState[state];
  return <path d={pathOfShape[shape]} fill={`var(${color})`} fillRule="evenodd" />;
}

/** The VM and state of the cell under the pointer. Keeps its height, so that nothing moves. */
function CellWords({ rollout, cell }: { rollout: ShownRollout; cell: ShownCells['cells'][number] | null }) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const words = useCauseWords(rollout.change.kind === 'run');
  if (cell === null) return <p className="mt-2 h-5" />;
  const { name = '', size = 0 } = rollout.rings[cell.ring] ?? {};
  const [from, to] = [cell.place + 1, cell.place + cell.size];
  const place =
    cell.size === 1
      ? t('live.cells.at', { ring: name, place: format.number(from), size: format.number(size) })
      : t('live.cells.range', {
          ring: name,
          from: format.number(from),
          to: format.number(to),
          size: format.number(size),
        });
  const numbers = numbersOfCell(cell).map(({ state, n }) =>
    cell.size === 1 ? t(`step.${state}`) : `${format.number(n)} ${t(`step.${state}`)}`,
  );
  return (
    <p className="mt-2 flex h-5 gap-x-2 overflow-hidden text-12 whitespace-nowrap text-ink-2">
      {cell.vm === null ? null : (
        <b translate="no" className="font-medium text-ink">
          {cell.vm.name}
        </b>
      )}
      <span>{format.list(numbers)}</span>
      {cell.vm?.cause ? <span className="truncate">{words(cell.vm.cause)}</span> : null}
      <span className="text-ink-3 tabular-nums">{place}</span>
    </p>
  );
}

/** The same numbers as a table: VMs by ring and state. */
function CountsTable({ rollout: { rings, counts } }: { rollout: ShownRollout }) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const shown = memberCounts.filter((state) => counts[state] > 0);
  return (
    <TableFrame label={t('live.cells.caption')}>
      <Table>
        <THead>
          <tr>
            <Th>{t('live.steps.state')}</Th>
            {rings.map(({ name }) => (
              <Th key={name} end translate="no">
                {name}
              </Th>
            ))}
          </tr>
        </THead>
        <TBody>
          {shown.map((state) => (
            <Tr key={state}>
              <Td>
                <span className="inline-flex items-center gap-1.5">
                  <StatusIcon status={statusOfStep[state]} />
                  {t(`step.${state}`)}
                </span>
              </Td>
              {rings.map((ring) => (
                <Td key={ring.name} end className="tabular-nums">
                  {format.number(ring.counts[state])}
                </Td>
              ))}
            </Tr>
          ))}
        </TBody>
      </Table>
    </TableFrame>
  );
}
