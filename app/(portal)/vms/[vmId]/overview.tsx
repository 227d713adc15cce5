'use client';

import { KeyRound, Plus } from 'lucide-react';
import Link from 'next/link';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { ExtensionCard } from './extension-card.tsx';
import { TimeBox } from './time/time-box.tsx';
import { byUrgency, type InstanceView, type VmFacts } from './vm-data.ts';
import type { VmAct } from './vm-dialogs.tsx';
import { WhyCard } from './why-card.tsx';

export interface OverviewProps {
  facts: VmFacts;
  view: InstanceView;
  /** When the view was read. */
  at: Date;
  onAct(act: VmAct): void;
}

/** Why it is not done, then every extension, worst first. */
export function Overview({ facts, view, at, onAct }: OverviewProps) {
  const { t } = useTranslation('reports');
  const extensions = byUrgency(view.extensions);
  return (
    <>
      {view.agent.status === 'never' ? <NeverEnrolled facts={facts} onAct={onAct} /> : null}
      <WhyCard view={view} at={at} onRevert={(incarnation) => onAct({ kind: 'revert', incarnation })} />
      {view.agent.status === 'never' ? null : <TimeBox view={view} />}
      {extensions.length === 0 ? (
        view.agent.status === 'never' ? null : (
          <NoExtensions facts={facts} />
        )
      ) : (
        <section aria-labelledby="extensions">
          <div className="mt-5 mb-2.5 flex items-baseline gap-2">
            <h2 id="extensions" className="text-14 font-semibold">
              {t('extensions')}
            </h2>
            {extensions.length > 1 ? <span className="text-12 text-ink-3">{t('extensions.order')}</span> : null}
          </div>
          <div className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,420px),1fr))] items-start gap-4">
            {extensions.map((extension) => (
              <ExtensionCard
                key={extension.name}
                vmId={facts.id}
                extension={extension}
                at={at}
                onRemove={(name, force) => onAct({ kind: 'remove', name, force })}
              />
            ))}
          </div>
        </section>
      )}
    </>
  );
}

/** A VM that no machine has spoken for: what to run there. */
function NeverEnrolled({ facts, onAct }: Pick<OverviewProps, 'facts' | 'onAct'>) {
  const { t } = useTranslation('enrollment');
  const may = useReader().can('operator');
  const until = facts.enrollmentExpiresAt;
  return (
    <Card>
      <EmptyState
        title={t('never.title', { name: facts.name })}
        actions={
          may ? (
            <Button variant="primary" onClick={() => onAct({ kind: 'token' })}>
              <KeyRound aria-hidden />
              {t('token')}
            </Button>
          ) : undefined
        }
        foot={
          may && until !== null ? (
            <Trans text={t('never.pending')} tags={{ clock: <DateTime value={new Date(until)} /> }} />
          ) : undefined
        }
      >
        <p>{t(may ? 'never.why' : 'never.viewer')}</p>
      </EmptyState>
    </Card>
  );
}

function NoExtensions({ facts }: { facts: VmFacts }) {
  const { t } = useTranslation(['reports', 'vms']);
  const may = useReader().can('operator');
  return (
    <Card>
      <EmptyState
        title={t('reports:extensions.empty')}
        actions={
          may && !facts.decommissioning ? (
            <Button asChild>
              <Link href={`/vms/${facts.id}/add-extension`}>
                <Plus aria-hidden />
                {t('vms:vm.add')}
              </Link>
            </Button>
          ) : undefined
        }
      >
        <p>{t(may ? 'reports:extensions.empty.why' : 'reports:extensions.empty.viewer')}</p>
      </EmptyState>
    </Card>
  );
}
