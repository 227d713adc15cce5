'use client';

import { History } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useId, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Banner } from '#app/_ui/banner.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { CopyButton } from '#app/_ui/copy.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { DateTime } from '#app/_ui/time.tsx';
import { momentAsJson, sideTables } from '../moments.ts';
import {
  type Moment,
  maxColumns,
  type RelationEvent,
  type RelationName,
  type ShownRelationDetails,
} from '../relation-data.ts';
import { CellPanel } from './cell-panel.tsx';
import { CompareChoice, type Pinned } from './compare-choice.tsx';
import { NodeTable } from './node-table.tsx';
import type { OpenedCell } from './opened-cell.ts';
import { useRevealed } from './use-revealed.ts';

const NodeList = dynamic(() => import('./node-list.tsx').then((module) => module.NodeList));
const SeenDialog = dynamic(() => import('./seen-dialog.tsx').then((module) => module.SeenDialog), { ssr: false });

export interface DataCardProps {
  name: RelationName;
  relation: ShownRelationDetails;
  /** The moment that is shown. */
  moment: Moment;
  /** The moment that it is compared with; null if it is not compared, or while that moment is loading. */
  compared: Moment | null;
  /** The cells that changed between both moments. */
  changed: ReadonlySet<string>;
  events: readonly RelationEvent[];
  /** The clock of the moment; null for now. */
  at: number | null;
  pinned: Pinned;
  /** Number of values that are different now. */
  since: number;
  isLoading: boolean;
  onMove(at: number | null): void;
  onPin(pinned: Pinned): void;
}

/** The settings of all units at a moment, and who wrote the value that the reader opened. */
export function DataCard(props: DataCardProps) {
  const { name, relation, moment, compared, changed, events, at, isLoading } = props;
  const { t } = useTranslation('services');
  const id = useId();
  const [cell, setCell] = useState<OpenedCell | null>(null);
  const [seen, setSeen] = useState<string | null>(null);
  const revealed = useRevealed(name, at);
  const tables = sideTables(relation, moment, compared);
  const participants = new Set(tables.flatMap(({ units }) => units)).size;
  const shared = {
    moment,
    compared,
    pinned: props.pinned,
    changed,
    revealed,
    cell,
    onCell: setCell,
    onSeen: at === null ? setSeen : null,
  };
  return (
    <div className="mt-4 grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[minmax(0,1fr)_var(--aside)]">
      <Card aria-labelledby={id} aria-busy={isLoading} className="overflow-clip">
        {at === null ? null : <PastBanner {...props} at={at} />}
        <DataHeader {...props} id={id} />
        {participants === 0 ? (
          <p className="px-4 pb-4 text-pretty text-ink-2">{t('relation.data.none')}</p>
        ) : participants > maxColumns ? (
          <NodeList {...shared} isPast={at !== null} />
        ) : (
          tables.map((table) => <NodeTable key={table.side} table={table} model={name.model} {...shared} />)
        )}
        {moment.leftOut === 0 ? null : (
          <p className="border-t border-line-subtle px-4 py-2.5 text-12 text-ink-2">
            {t('relation.data.leftOut', { count: moment.leftOut })}
          </p>
        )}
      </Card>
      {participants === 0 ? null : <CellPanel {...{ name, moment, events, cell, revealed }} />}
      {seen === null ? null : <SeenDialog name={name} unit={seen} onClose={() => setSeen(null)} />}
    </div>
  );
}

function DataHeader({ id, moment, at, pinned, onPin, relation }: DataCardProps & { id: string }) {
  const { t } = useTranslation('services');
  const may = useReader().can('operator');
  return (
    <CardHeader
      id={id}
      title={t('relation.data.title')}
      note={may ? undefined : t('relation.data.viewer')}
      actions={
        relation.clock === 0 ? undefined : (
          <>
            <CompareChoice clock={at ?? relation.clock} isPast={at !== null} pinned={pinned} onPin={onPin} />
            {may ? <CopyButton text={momentAsJson(moment)} label={t('relation.data.copy')} /> : null}
          </>
        )
      }
    />
  );
}

function PastBanner({ at, events, since, isLoading, onMove, relation }: DataCardProps & { at: number }) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const event = events.find(({ clock }) => clock === at);
  return (
    <Banner
      status="unknown"
      icon={<History aria-hidden className="size-4" />}
      className="rounded-t-lg border-t-0 px-4"
      actions={
        <Button size="sm" onClick={() => onMove(null)}>
          {t('relation.past.back')}
        </Button>
      }
    >
      <span className="font-semibold">
        {t('relation.past.title', { clock: format.number(at) })}
        {event === undefined ? null : (
          <>
            {', '}
            <DateTime value={new Date(event.at)} />
          </>
        )}
      </span>{' '}
      <span className="text-ink-2">
        {t('relation.past.since', { count: relation.clock - at })}
        {isLoading ? null : ` ${t('relation.past.values', { count: since })}`}
      </span>
    </Banner>
  );
}
