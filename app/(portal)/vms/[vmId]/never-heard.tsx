'use client';

import { KeyRound } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { AgentChecks } from './agent-checks.tsx';
import type { VmFacts } from './vm-data.ts';
import type { VmAct } from './vm-dialogs.tsx';

/** Shown for a VM with an agent that has never called: an enrolled machine, or a stock agent’s forwarder. */
export function NeverHeard({ facts, onAct }: { facts: VmFacts; onAct(act: VmAct): void }) {
  const { t } = useTranslation('enrollment');
  const may = useReader().can('operator');
  const isStock = facts.agentKind === 'stock';
  return (
    <Card>
      <EmptyState
        title={t('unheard.title', { name: facts.name })}
        actions={
          may ? (
            <Button onClick={() => onAct({ kind: isStock ? 'stock' : 'token' })}>
              <KeyRound aria-hidden />
              {t(isStock ? 'stock.token' : 'token')}
            </Button>
          ) : undefined
        }
      >
        <p>{t(may ? `unheard.${isStock ? 'stock' : 'reference'}` : 'unheard.viewer')}</p>
        {may && !isStock ? <AgentChecks kind="reference" /> : null}
      </EmptyState>
    </Card>
  );
}
