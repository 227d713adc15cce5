'use client';

import { ChevronRight } from 'lucide-react';
import { Fragment, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { cn } from '#app/_ui/cn.ts';
import { useFormat } from '#app/_ui/format.ts';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { useMoment } from '../time/use-event-words.ts';
import type { CommandOutput } from '../vm-data.ts';
import { DownloadOutput, WholeOutput } from './whole-output.tsx';

export interface EarlierOutputsProps {
  vmId: string;
  outputs: readonly CommandOutput[];
  /** How older ones are read, where there are any. */
  more: { isBusy: boolean; read(): void } | undefined;
}

/** What other commands wrote, newest first, also of extensions that are gone; a row opens to the whole. */
export function EarlierOutputs({ vmId, outputs, more }: EarlierOutputsProps) {
  const { t } = useTranslation(['outputs', 'common']);
  if (outputs.length === 0) return null;
  return (
    <Card>
      <CardHeader title={t('outputs:earlier')} note={t('outputs:earlier.note')} />
      <TableFrame label={t('outputs:earlier')}>
        <Table>
          <THead>
            <tr>
              <Th>{t('outputs:at')}</Th>
              <Th>{t('outputs:extension')}</Th>
              <Th>{t('outputs:command')}</Th>
              <Th end>{t('outputs:sequence')}</Th>
              <Th end>{t('outputs:attempt')}</Th>
              <Th end>{t('outputs:size')}</Th>
            </tr>
          </THead>
          <TBody>
            {outputs.map((output) => (
              <OutputRow key={output.id} vmId={vmId} output={output} />
            ))}
          </TBody>
        </Table>
      </TableFrame>
      {more === undefined ? null : (
        <div className="border-t border-line-subtle p-2">
          <Button variant="ghost" busy={more.isBusy} onClick={more.read}>
            {t('common:showMore')}
          </Button>
        </div>
      )}
    </Card>
  );
}

function OutputRow({ vmId, output }: { vmId: string; output: CommandOutput }) {
  const { t } = useTranslation('reports');
  const format = useFormat();
  const moment = useMoment();
  const [open, setOpen] = useState(false);
  const { id, startedAt, extension, command, sequenceNumber, attempt, storedBytes } = output;
  const label = t('output.title', { name: extension, command });
  return (
    <Fragment>
      <Tr>
        <Td className="tabular-nums">
          <button
            type="button"
            aria-expanded={open}
            onClick={() => setOpen(!open)}
            className="-ms-1.5 inline-flex min-h-6 items-center gap-1 rounded-sm px-1.5 hover:text-brand-text"
          >
            <ChevronRight aria-hidden className={cn('size-3.5 text-ink-3 rtl:-scale-x-100', open && 'rotate-90')} />
            <time dateTime={startedAt} title={format.dateTime(new Date(startedAt), 'exact')}>
              {moment(Date.parse(startedAt))}
            </time>
          </button>
        </Td>
        <Td translate="no">{extension}</Td>
        <Td translate="no">{command}</Td>
        <Td end className="tabular-nums">
          {sequenceNumber}
        </Td>
        <Td end className="tabular-nums">
          {attempt}
        </Td>
        <Td end className="tabular-nums">
          {format.bytes(storedBytes)}
        </Td>
      </Tr>
      {open ? (
        <tr>
          <td colSpan={6} className="max-w-0 border-b border-line-subtle px-4 py-2">
            <div className="grid grid-cols-[minmax(0,1fr)] gap-2">
              <div>
                <DownloadOutput vmId={vmId} output={output} />
              </div>
              <WholeOutput vmId={vmId} outputId={id} failed={false} label={label} />
            </div>
          </td>
        </tr>
      ) : null}
    </Fragment>
  );
}
