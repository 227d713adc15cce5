'use client';

import { ListChecks } from 'lucide-react';
import dynamic from 'next/dynamic';
import { type ReactNode, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { useFormat } from '#app/_ui/format.ts';
import type { FleetReading } from '../reading.ts';

const BulkBar = dynamic(() => import('./bulk-bar.tsx').then((module) => module.BulkBar), { ssr: false });

/**
 * Returns a button that selects all VMs of a list, and the bar with the acts on them. Both are null without a list. A
 * change of the filter clears the selection, so that no one acts on VMs that they no longer see.
 */
export function useBulk(reading: FleetReading | undefined): { button: ReactNode; bar: ReactNode } {
  const { t } = useTranslation('vms');
  const format = useFormat();
  const [selected, setSelected] = useState<string>();
  if (reading === undefined || reading.total === 0) return { button: null, bar: null };
  const { total } = reading;
  const { filter } = reading.query;
  const key = JSON.stringify(filter);
  const isSelected = selected === key;
  return {
    button: (
      <Button size="sm" aria-pressed={isSelected} onClick={() => setSelected(isSelected ? undefined : key)}>
        <ListChecks aria-hidden />
        {t('bulk.selectAll', { count: total, n: format.number(total) })}
      </Button>
    ),
    bar: isSelected ? <BulkBar filter={filter} total={total} onClose={() => setSelected(undefined)} /> : null,
  };
}
