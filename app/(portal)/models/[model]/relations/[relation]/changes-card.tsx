'use client';

import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { unitHref } from '../../services/service-data.ts';
import type { RelationEvent, RelationName, ShownRelationDetails } from '../relation-data.ts';
import type { EventsRead } from '../use-relation.ts';
import { EventMark } from './event-mark.tsx';
import { useShownRows } from './use-shown-rows.ts';

export interface ChangesCardProps {
  name: RelationName;
  relation: ShownRelationDetails;
  history: EventsRead;
  at: number | null;
  onMove(at: number | null): void;
}

/** What happened in a relation, newest first. A row moves the time machine. */
export function ChangesCard({ name, relation, history: { query, events }, at, onMove }: ChangesCardProps) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const explain = useProblem();
  const { shown, hasMore, more } = useShownRows(events ?? [], query);
  if (events === undefined || events.length === 0) return null;
  return (
    <Card className="mt-4">
      <CardHeader title={t('relation.changes.title')} note={format.number(relation.clock)} />
      <TableFrame label={t('relation.changes.title')}>
        <Table>
          <THead>
            <tr>
              <Th end className="w-14">
                {t('column.number')}
              </Th>
              <Th className="max-sm:hidden">{t('relation.changes.time')}</Th>
              <Th>{t('column.unit')}</Th>
              <Th className="w-1/2">{t('relation.changes.what')}</Th>
              <Th className="max-md:hidden">{t('relation.changes.hook')}</Th>
            </tr>
          </THead>
          <TBody>
            {shown.map((event) => (
              <ChangeRow
                key={event.clock}
                name={name}
                event={event}
                isShown={event.clock === at}
                onShow={() => onMove(event.clock === relation.clock ? null : event.clock)}
              />
            ))}
          </TBody>
        </Table>
      </TableFrame>
      {hasMore ? (
        <div className="border-t border-line-subtle p-2">
          <Button variant="ghost" busy={query.isFetchingNextPage} onClick={more}>
            {t('relation.changes.more')}
          </Button>
          {query.isFetchNextPageError ? <FieldError>{explain(query.error).message}</FieldError> : null}
        </div>
      ) : null}
    </Card>
  );
}

interface ChangeRowProps {
  name: RelationName;
  event: RelationEvent;
  isShown: boolean;
  onShow(): void;
}

function ChangeRow({ name, event, isShown, onShow }: ChangeRowProps) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const { clock, at, unit, kind, run } = event;
  return (
    <Tr selected={isShown}>
      <Td end className="tabular-nums">
        <button
          type="button"
          aria-label={t('relation.changes.show', { clock: format.number(clock) })}
          onClick={onShow}
          className="min-h-6 rounded-xs px-1 text-brand-text underline decoration-brand-line underline-offset-3 hover:decoration-current focus-visible:shadow-focus"
        >
          {format.number(clock)}
        </button>
      </Td>
      <Td className="text-ink-2 tabular-nums max-sm:hidden">
        <DateTime value={new Date(at)} />
      </Td>
      <Td>
        <Link
          href={unitHref(name.model, unit)}
          prefetch={false}
          translate="no"
          className="rounded-xs font-medium hover:underline"
        >
          {unit}
        </Link>
      </Td>
      <Td className="py-1.5 whitespace-normal">
        <span className="flex items-start gap-2">
          <svg viewBox="-8 -8 16 16" aria-hidden className="mt-[3px] size-3.5 shrink-0">
            <EventMark kind={kind} />
          </svg>
          <What event={event} />
        </span>
      </Td>
      <Td className="max-md:hidden">
        {run === null ? null : (
          <>
            <span translate="no" className="mono text-ink-2">
              {run.hook}
            </span>{' '}
            <TextLink href={`${unitHref(name.model, unit)}?run=${run.id}`} prefetch={false} className="text-12">
              {t('unit.run.number', { number: run.number })}
            </TextLink>
          </>
        )}
      </Td>
    </Tr>
  );
}

/** Number of keys that a row names. */
const maxKeys = 6;

/** What an event changed. Short values of operators are shown, others only named. */
function What({ event: { kind, changes } }: { event: RelationEvent }) {
  const { t } = useTranslation('services');
  if (kind !== 'changed') return <span>{t(`relation.event.${kind}`)}</span>;
  const rest = changes.length - maxKeys;
  return (
    <span className="min-w-0 wrap-anywhere">
      {changes.slice(0, maxKeys).map(({ key, before, after }, index) => (
        <span key={key}>
          {index === 0 ? null : ', '}
          <span translate="no" className="mono">
            {key}
          </span>{' '}
          <span className="text-12 text-ink-2">
            {after === null
              ? t('relation.changes.removed')
              : before === null
                ? t('relation.changes.added')
                : isShort(before.value) && isShort(after.value)
                  ? t('relation.changes.fromTo', { before: before.value, after: after.value })
                  : t('relation.changes.replaced')}
          </span>
        </span>
      ))}
      {rest > 0 ? <span className="text-12 text-ink-3"> {t('relation.changes.moreKeys', { count: rest })}</span> : null}
    </span>
  );
}

const isShort = (value: string | null): value is string => value !== null && value.length <= 24;
