'use client';

import Link from 'next/link';
import { type ReactNode, useId } from 'react';
import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { Status } from '#app/_ui/status.tsx';
import { placeHref } from '../../../model-data.ts';
import type { NamedUnit, ShownUnitDetails, UnitInstance, UnitMachine } from '../unit-data.ts';
import { type MachineRead, useInstance } from '../use-unit.ts';

export interface MachineCardProps {
  name: NamedUnit;
  unit: ShownUnitDetails;
  machine: MachineRead;
  /** The instance that the server read. */
  instance: UnitInstance | undefined;
}

/** The machine of a unit: its agent, addresses, ports and extensions. */
export function MachineCard({ name, unit, machine: { query, machine }, instance: first }: MachineCardProps) {
  const { t } = useTranslation('services');
  const id = useId();
  const instance = useInstance(name, unit.instanceId, first);
  return (
    <Card aria-labelledby={id}>
      <CardHeader
        id={id}
        title={
          <Link href={`/vms/${unit.vmId}`} prefetch={false} translate="no" className="rounded-xs hover:underline">
            {unit.vm}
          </Link>
        }
        actions={machine === undefined ? undefined : <AgentStatus machine={machine} />}
      />
      {machine === undefined ? (
        query.error ? (
          <QueryError title={t('unit.machine.failed')} error={query.error} onRetry={query.refetch} />
        ) : query.isPending ? (
          <SkeletonRows columns={['w-20', 'w-32']} rows={5} label={t('unit.machine.loading')} />
        ) : (
          <p className="px-4 pb-4 text-ink-2">{t('unit.machine.gone')}</p>
        )
      ) : (
        <Contents unit={unit} machine={machine} instance={instance} />
      )}
    </Card>
  );
}

function AgentStatus({ machine: { agent, agentKind } }: { machine: UnitMachine }) {
  const { t } = useTranslation('services');
  const { status } = agent;
  if (status === 'never') {
    return <Status status="unknown">{t(agentKind === null ? 'unit.agent.none' : 'unit.agent.never')}</Status>;
  }
  const isSilent = status === 'unresponsive';
  return (
    <Status status={isSilent ? 'unresponsive' : 'healthy'}>
      {t(isSilent ? 'unit.agent.silent' : 'unit.agent.heard')}
    </Status>
  );
}

interface ContentsProps {
  unit: ShownUnitDetails;
  machine: UnitMachine;
  instance: UnitInstance | null;
}

function Contents({ unit, machine, instance }: ContentsProps) {
  const { t } = useTranslation(['services', 'reports']);
  const { extensions, agentVersion, health } = machine;
  const address = instance?.internalAddress ?? instance?.assignedAddress ?? null;
  return (
    <dl className="grid grid-cols-[7rem_minmax(0,1fr)] gap-x-3 gap-y-1.5 px-4 pb-4">
      <Fact label={t('services:unit.fact.instance')} value={unit.instanceId} isCode />
      <Fact label={t('services:unit.fact.address')} value={address} isCode />
      {instance === null ? null : (
        <Fact
          label={t('services:unit.fact.cloudService')}
          value={
            <Link
              href={placeHref({ cloudService: instance.cloudService })}
              prefetch={false}
              translate="no"
              className="mono rounded-xs text-ink wrap-anywhere hover:underline"
            >
              {instance.cloudService}
            </Link>
          }
        />
      )}
      <Fact
        label={t('services:unit.fact.ports')}
        value={unit.ports.length === 0 ? t('services:units.noPorts') : unit.ports.join(', ')}
      />
      <Fact label={t('services:unit.fact.agent')} value={agentVersion} />
      <Fact
        label={t('services:unit.fact.extensions')}
        value={
          extensions.length === 0 ? (
            t('services:unit.noExtensions')
          ) : (
            <Status status={statusOfHealth[extensions[0]?.health ?? health]}>
              {t('services:unit.extensions', { count: extensions.length })}
            </Status>
          )
        }
      />
    </dl>
  );
}

function Fact({ label, value, isCode = false }: { label: string; value: ReactNode; isCode?: boolean }) {
  if (value === null) return null;
  return (
    <>
      <dt className="text-ink-3">{label}</dt>
      <dd translate={isCode ? 'no' : undefined} className={isCode ? 'mono wrap-anywhere' : 'min-w-0 wrap-anywhere'}>
        {value}
      </dd>
    </>
  );
}
