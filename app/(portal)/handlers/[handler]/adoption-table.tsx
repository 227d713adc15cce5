'use client';

import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Num } from '#app/_ui/num.tsx';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import type { Layer, StackedPoint } from './adoption-layers.ts';

const rows = 30;

/** The chart's numbers, newest first: at most 30 points at even intervals. */
export function AdoptionTable({ layers, points }: { layers: readonly Layer[]; points: readonly StackedPoint[] }) {
  const { t } = useTranslation('packages');
  const [open, setOpen] = useState(false);
  const step = Math.ceil(points.length / rows);
  const shown = points.toReversed().filter((_, index) => index % step === 0);
  return (
    <details className="mt-2" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="w-fit cursor-pointer rounded-xs text-12 text-ink-3 hover:text-ink">
        {t('adoption.table')}
      </summary>
      {open ? (
        <TableFrame label={t('adoption.title')} className="mt-2 max-h-80 overflow-y-auto shadow-hair-subtle">
          <Table>
            <THead>
              <tr>
                <Th>{t('adoption.time')}</Th>
                {layers.toReversed().map(({ version, count }) => (
                  <Th key={version ?? ''} end>
                    {version ?? t('adoption.others', { count })}
                  </Th>
                ))}
              </tr>
            </THead>
            <TBody>
              {shown.map(({ at, vms }) => (
                <Tr key={at.getTime()}>
                  <Td>
                    <DateTime value={at} />
                  </Td>
                  {vms.toReversed().map((count, index) => (
                    <Td key={layers.at(-1 - index)?.version ?? ''} end data-not-vms>
                      <Num value={count} />
                    </Td>
                  ))}
                </Tr>
              ))}
            </TBody>
          </Table>
        </TableFrame>
      ) : null}
    </details>
  );
}
