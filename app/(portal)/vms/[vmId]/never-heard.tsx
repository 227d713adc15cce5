'use client';

import { KeyRound } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import type { VmFacts } from './vm-data.ts';
import type { VmAct } from './vm-dialogs.tsx';

/** Shown for a VM that uses the stock agent but whose forwarder has never called. */
export function NeverHeard({ facts, onAct }: { facts: VmFacts; onAct(act: VmAct): void }) {
  const { t } = useTranslation('enrollment');
  const may = useReader().can('operator');
  return (
    <Card>
      <EmptyState
        title={t('stock.never', { name: facts.name })}
        actions={
          may ? (
            <Button onClick={() => onAct({ kind: 'stock' })}>
              <KeyRound aria-hidden />
              {t('stock.token')}
            </Button>
          ) : undefined
        }
      >
        <p>{t(may ? 'stock.never.why' : 'stock.never.viewer')}</p>
      </EmptyState>
    </Card>
  );
}
