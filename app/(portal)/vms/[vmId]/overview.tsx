'use client';

import { Plus } from 'lucide-react';
import dynamic from 'next/dynamic';
import Link from 'next/link';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { ExtensionCard } from './extension-card.tsx';
import type { ReadQueue } from './queue/use-queue.ts';
import type { Retry } from './retry/use-retry.ts';
import { isUndecided, type ReadMemberships } from './rollouts/memberships.ts';
import { useMemberships } from './rollouts/use-memberships.ts';
import { canHaveUnits, type InstanceDetails, type VmFacts } from './vm-data.ts';
import type { VmAct } from './vm-dialogs.tsx';
import { WhyCard } from './why/why-card.tsx';

const ExtensionTable = dynamic(() => import('./extension-table.tsx').then((module) => module.ExtensionTable));
const AgentProblems = dynamic(() => import('./agent-problems.tsx').then((module) => module.AgentProblems));
const StockAgentCard = dynamic(() => import('./stock-agent-card.tsx').then((module) => module.StockAgentCard), {
  ssr: false,
});

// The server renders these components, so nothing moves when their scripts load after the page's.
const NeverEnrolled = dynamic(() => import('./never-enrolled.tsx').then((module) => module.NeverEnrolled));
const UnitsSection = dynamic(() => import('./units/units-section.tsx').then((module) => module.UnitsSection));
const QueueCard = dynamic(() => import('./queue/queue-card.tsx').then((module) => module.QueueCard));
const RolloutLines = dynamic(() => import('./rollouts/rollout-lines.tsx').then((module) => module.RolloutLines));
const TimeBox = dynamic(() => import('./time/time-box.tsx').then((module) => module.TimeBox));
const NeverHeard = dynamic(() => import('./never-heard.tsx').then((module) => module.NeverHeard));

export interface VmOverviewProps {
  facts: VmFacts;
  gatewayUrl: string;
  view: InstanceDetails;
  /** The queue that the server rendered, if it could be read. */
  queue: ReadQueue | undefined;
  /** The rollouts that the server rendered, if they could be read. */
  memberships: ReadMemberships | undefined;
  /** When the view was loaded. */
  at: Date;
  retry: Retry;
  onAct(act: VmAct): void;
}

/**
 * A VM with more than `maxCards` extensions shows a table instead of cards. At first, the table shows `shownRows` rows,
 * worst first.
 */
const maxCards = 8;
const shownRows = 50;

/**
 * The overview of a VM: why it has not reached its goal, its timeline and queue, then its extensions, the least healthy
 * first.
 */
export function Overview({ facts, view, queue, memberships, at, gatewayUrl, retry, onAct }: VmOverviewProps) {
  const { t } = useTranslation('reports');
  const [all, setAll] = useState(false);
  const rollouts = useMemberships(facts.id, memberships);
  const extensions = view.extensions;
  const rest = extensions.length - shownRows;
  const hasUnits = canHaveUnits(facts, view);
  return (
    <>
      {rollouts.error || rollouts.data?.items.some(isUndecided) ? <RolloutLines list={rollouts} /> : null}
      {view.agent.status !== 'never' ? null : facts.agentKind === 'stock' ? (
        <NeverHeard facts={facts} onAct={onAct} />
      ) : (
        <NeverEnrolled facts={facts} gatewayUrl={gatewayUrl} onAct={onAct} />
      )}
      <WhyCard view={view} memberships={rollouts.data?.items ?? []} retry={retry} onAct={onAct} />
      {view.agent.problems?.length ? <AgentProblems problems={view.agent.problems} /> : null}
      <TimeAndQueue {...{ facts, view, queue, hasUnits }} />
      {extensions.length === 0 ? (
        view.agent.status === 'never' || hasUnits ? null : (
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
          {extensions.length > maxCards ? (
            <ExtensionTable
              vmId={facts.id}
              extensions={all ? extensions : extensions.slice(0, shownRows)}
              at={at}
              retry={retry}
              onAct={onAct}
            />
          ) : (
            <div className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,420px),1fr))] items-start gap-4">
              {extensions.map((extension) => (
                <ExtensionCard
                  key={extension.name}
                  vmId={facts.id}
                  extension={extension}
                  at={at}
                  retry={retry}
                  onAct={onAct}
                />
              ))}
            </div>
          )}
          {rest > 0 ? (
            <Button className="mt-4" aria-expanded={all} onClick={() => setAll(!all)}>
              {all ? t('extensions.fewer') : t('extensions.more', { count: rest })}
            </Button>
          ) : null}
        </section>
      )}
      {hasUnits ? <UnitsSection vmId={facts.id} /> : null}
      {facts.agentKind === 'stock' ? <StockAgentCard vmId={facts.id} incarnation={view.incarnation} /> : null}
    </>
  );
}

interface TimeAndQueueProps extends Pick<VmOverviewProps, 'facts' | 'view' | 'queue'> {
  hasUnits: boolean;
}

/** The timeline and the queue; before the agent's first call, only the queue, if it has entries. */
function TimeAndQueue({ facts, view, queue, hasUnits }: TimeAndQueueProps) {
  return view.agent.status === 'never' ? (
    view.extensions.length === 0 && !hasUnits ? null : (
      <div className="mt-4">
        <QueueCard
          vmId={facts.id}
          name={facts.name}
          agent="never"
          isEnrolled={facts.agentKind !== null}
          first={queue}
        />
      </div>
    )
  ) : (
    <div className="mt-4 grid grid-cols-[minmax(0,1fr)] gap-4 lg:grid-cols-[minmax(0,1fr)_320px]">
      <TimeBox view={view} hasUnits={hasUnits} />
      <QueueCard vmId={facts.id} name={facts.name} agent={view.agent.status} isEnrolled first={queue} />
    </div>
  );
}

function NoExtensions({ facts }: { facts: VmFacts }) {
  const { t } = useTranslation(['reports', 'vms']);
  const may = useReader().can('operator');
  return (
    <Card className="mt-4">
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
