'use client';

import { X } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { WordsOnDemand } from '#app/_lib/i18n/words-on-demand.tsx';
import { Button, IconButton } from '#app/_ui/button.tsx';
import { useFormat } from '#app/_ui/format.ts';
import type { FleetFilter } from '#server/domain/fleet/index.ts';
import { type BulkAct, bulkActs } from './bulk-acts.ts';

const BulkDialog = dynamic(() => import('./bulk-dialog.tsx').then((module) => module.BulkDialog), { ssr: false });

export interface BulkBarProps {
  filter: FleetFilter;
  /** VMs that match the filter. */
  total: number;
  onClose(): void;
}

/** Texts of the bar and its dialog. The list of VMs does not send them, because few readers select all VMs. */
const namespaces = ['rollouts', 'editor'] as const;

/** A bar with the acts on all VMs that match the filter. */
export function BulkBar(props: BulkBarProps) {
  return (
    <WordsOnDemand namespaces={namespaces} onFailed={props.onClose}>
      <Bar {...props} />
    </WordsOnDemand>
  );
}

function Bar({ filter, total, onClose }: BulkBarProps) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const [act, setAct] = useState<BulkAct>();
  return (
    <>
      <section
        aria-label={t('bulk.label')}
        className="sticky bottom-12 z-10 mx-auto mt-3 flex w-fit max-w-full flex-wrap items-center gap-2 rounded-xl bg-raised px-4 py-2.5 shadow-float max-sm:bottom-[calc(var(--tabbar)+8px)]"
      >
        <strong className="me-1 font-semibold tabular-nums" role="status">
          {t('bulk.selected', { count: total, n: format.number(total) })}
        </strong>
        {bulkActs.map((one) => (
          <Button key={one} size="sm" variant={one === 'remove' ? 'danger' : 'default'} onClick={() => setAct(one)}>
            {t(`bulk.act.${one}`)}
          </Button>
        ))}
        <IconButton size="sm" label={t('bulk.clear')} onClick={onClose}>
          <X aria-hidden />
        </IconButton>
      </section>
      {act === undefined ? null : (
        <BulkDialog act={act} filter={filter} total={total} onClose={() => setAct(undefined)} />
      )}
    </>
  );
}
