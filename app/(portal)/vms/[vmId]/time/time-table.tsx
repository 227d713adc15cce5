'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { type AxisEvent, isStretch } from './axis-events.ts';
import { useEventWords, useMoment } from './use-event-words.ts';

export interface TimeTableProps {
  vm: string;
  /** Oldest first, as on the axis. */
  events: readonly AxisEvent[];
  now: number;
}

/** Below 720 px, a row has two lines: lane and time, then the event. */
const narrow = [
  'max-sm:block max-sm:[&_tbody]:block max-sm:[&_thead]:sr-only',
  'max-sm:[&_tr]:grid max-sm:[&_tr]:grid-cols-[minmax(0,1fr)_auto] max-sm:[&_tr]:gap-x-3 max-sm:[&_tr]:border-t max-sm:[&_tr]:border-line-subtle max-sm:[&_tr]:px-4 max-sm:[&_tr]:py-2',
  'max-sm:[&_td]:h-auto max-sm:[&_td]:border-b-0 max-sm:[&_td]:px-0!',
].join(' ');

/** The events of the axis as rows, newest first. */
export function TimeTable({ vm, events, now }: TimeTableProps) {
  const { t } = useTranslation('timeline');
  const words = useEventWords();
  const moment = useMoment();
  if (events.length === 0) return <p className="px-4 pb-4 text-ink-2">{t('quiet')}</p>;
  return (
    <TableFrame label={t('table.label', { vm })} className="max-h-[60vh] overflow-y-auto">
      <Table className={narrow}>
        <THead>
          <tr>
            <Th>{t('column.at')}</Th>
            <Th>{t('column.until')}</Th>
            <Th>{t('column.lane')}</Th>
            <Th>{t('column.what')}</Th>
          </tr>
        </THead>
        <TBody>
          {[...events].reverse().map((event) => {
            const { lane, title, notes } = words(event, now);
            const long = isStretch(event) || event.count > 1;
            return (
              <Tr key={event.id}>
                <Td className="tabular-nums max-sm:text-ink-2">{moment(event.from)}</Td>
                <Td className="tabular-nums max-sm:hidden">
                  {long ? (event.to === null ? t('now') : moment(event.to)) : ''}
                </Td>
                <Td className="max-sm:order-first max-sm:font-medium">{lane}</Td>
                <Td className="whitespace-normal max-sm:col-span-full">{[title, ...notes].join(', ')}</Td>
              </Tr>
            );
          })}
        </TBody>
      </Table>
    </TableFrame>
  );
}
