'use client';

import { Plus } from 'lucide-react';
import dynamic from 'next/dynamic';
import Link from 'next/link';
import { statusOfHealth } from '#app/_lib/health.ts';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Facts, PageHeader } from '#app/_ui/page-header.tsx';
import { StatusBadge } from '#app/_ui/status.tsx';
import { RelativeTime } from '#app/_ui/time.tsx';
import { retryTarget } from './retry/retryable.ts';
import { TagList } from './tag-list.tsx';
import type { InstanceDetails, VmFacts } from './vm-data.ts';
import type { VmAct } from './vm-dialogs.tsx';
import { isAboutUnit } from './why/is-about-unit.ts';

/** Loaded on demand, since few VMs need them. The server renders them, so nothing moves when their script loads. */
const RoleFacts = dynamic(() => import('./role-facts.tsx').then((module) => module.RoleFacts));
const AgentUpdate = dynamic(() => import('./agent-update.tsx').then((module) => module.AgentUpdate));
/** Loaded on demand. A placeholder reserves the menu's space. */
const VmMenu = dynamic(() => import('./vm-menu.tsx').then((module) => module.VmMenu), {
  ssr: false,
  loading: () => <span className="size-(--control) pointer-coarse:size-10" />,
});

export interface VmHeaderProps {
  facts: VmFacts;
  view: InstanceDetails;
  onAct(act: VmAct): void;
}

/** A VM's name, health, open work and agent, with its actions. */
export function VmHeader({ facts, view, onAct }: VmHeaderProps) {
  const { t } = useTranslation(['vms', 'reports']);
  const reader = useReader();
  const never = view.agent.status === 'never';
  const open = view.extensions.filter(({ done }) => !done).length;
  const count = view.extensions.length;
  const some = count === 1 ? t('vms:vm.onlyNotDone') : t('vms:vm.notDone', { count: open, total: count });
  const notDone = open === 0 ? t('vms:vm.allDone', { count }) : some;
  // Adding an extension is the primary action, unless a failure can be fixed or the agent has never called.
  const { explanation } = view;
  const isFailingUnit = explanation !== null && isAboutUnit(explanation) && view.units?.health === 'failed';
  const needsFix = explanation?.act?.failed === true || isFailingUnit || retryTarget(view) !== null;
  return (
    <PageHeader
      title={named(facts.name)}
      badge={
        <StatusBadge status={statusOfHealth[view.health]} size="lg">
          {never ? t('vms:neverSeen') : t(`reports:health.${view.health}`)}
        </StatusBadge>
      }
      note={count === 0 ? undefined : notDone}
      actions={
        reader.can('operator') ? (
          <>
            {facts.decommissioning ? null : (
              <Button asChild variant={needsFix || never ? 'default' : 'primary'}>
                <Link href={`/vms/${facts.id}/add-extension`}>
                  <Plus aria-hidden />
                  {t('vms:vm.add')}
                </Link>
              </Button>
            )}
            <VmMenu
              agentKind={facts.agentKind}
              isHeld={view.agent.hold !== null}
              isDecommissioning={facts.decommissioning}
              role={facts.role}
              onAct={onAct}
            />
          </>
        ) : undefined
      }
    >
      <VmFactsLine facts={facts} view={view} />
      {facts.role === null ? null : <RoleFacts role={facts.role} />}
    </PageHeader>
  );
}

function VmFactsLine({ facts, view }: Pick<VmHeaderProps, 'facts' | 'view'>) {
  const { t } = useTranslation('vms');
  const { agent } = view;
  const system = [facts.os?.name, facts.os?.version, facts.os?.arch].filter(Boolean).join(' ');
  const tags = Object.entries(facts.tags);
  const items = [
    agent.lastSeenAt && { label: t('vm.fact.poll'), value: <Ago value={new Date(agent.lastSeenAt)} /> },
    agent.name && { label: t('vm.fact.agent'), value: <AgentName vmName={facts.name} agent={agent} /> },
    system !== '' && { label: t('vm.fact.system'), value: named(system) },
    facts.goalState && {
      label: t('vm.fact.goalState'),
      value: (
        <Trans
          text={t('vm.fact.goalState.value', {
            incarnation: facts.goalState.incarnation,
            who: facts.goalState.publishedBy,
          })}
          tags={{ time: <RelativeTime value={new Date(facts.goalState.publishedAt)} /> }}
        />
      ),
    },
    tags.length > 0 && {
      label: t('vm.fact.tags'),
      value: <TagList tags={tags} />,
      bare: true,
    },
  ].filter((item) => typeof item === 'object' && item !== null);
  return <Facts items={items} className="tabular-nums max-sm:[&>div:nth-child(n+4)]:hidden" />;
}

/** A relative time with a reserved width, so that the facts after it do not move when it changes. */
function Ago({ value }: { value: Date }) {
  return (
    <span className="inline-block min-w-[8ch]">
      <RelativeTime value={value} />
    </span>
  );
}

function AgentName({ vmName, agent }: { vmName: string; agent: InstanceDetails['agent'] }) {
  const version = agent.availableVersion;
  return (
    <>
      {named(`${agent.name} ${agent.version ?? ''}`)}
      {version === null ? null : (
        <>
          {' · '}
          <AgentUpdate name={vmName} version={version} />
        </>
      )}
    </>
  );
}

const named = (text: string) => <span translate="no">{text}</span>;
