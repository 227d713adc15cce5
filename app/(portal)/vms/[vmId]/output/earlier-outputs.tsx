'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Table, TableFrame, TBody, Td, THead, Th } from '#app/_ui/table.tsx';
import { OpeningRow } from '../opening-row.tsx';
import type { CommandOutput } from '../vm-data.ts';
import { DownloadOutput, WholeOutput } from './whole-output.tsx';

export interface EarlierOutputsProps {
  vmId: string;
  outputs: readonly CommandOutput[];
  /** Loads older outputs; undefined if there are none. */
  more: { isBusy: boolean; read(): void } | undefined;
}

/**
 * Outputs that have no card above, newest first, including those of deleted extensions. A row opens to show the whole
 * output.
 */
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
              <Th end className="max-sm:hidden">
                {t('outputs:sequence')}
              </Th>
              <Th end className="max-sm:hidden">
                {t('outputs:attempt')}
              </Th>
              <Th end className="max-sm:hidden">
                {t('outputs:size')}
              </Th>
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
  const { id, startedAt, extension, command, sequenceNumber, attempt, storedBytes } = output;
  return (
    <OpeningRow
      at={startedAt}
      columns={6}
      cells={
        <>
          <Td translate="no">{extension}</Td>
          <Td translate="no">{command}</Td>
          <Td end className="tabular-nums max-sm:hidden">
            {sequenceNumber}
          </Td>
          <Td end className="tabular-nums max-sm:hidden">
            {attempt}
          </Td>
          <Td end className="tabular-nums max-sm:hidden">
            {format.bytes(storedBytes)}
          </Td>
        </>
      }
    >
      <div className="grid grid-cols-[minmax(0,1fr)] gap-2">
        <div>
          <DownloadOutput vmId={vmId} output={output} />
        </div>
        <WholeOutput vmId={vmId} outputId={id} failed={false} label={t('output.title', { name: extension, command })} />
      </div>
    </OpeningRow>
  );
}
