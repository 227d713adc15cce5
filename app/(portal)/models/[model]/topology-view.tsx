'use client';

import Link from 'next/link';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { SearchInput } from '#app/_ui/input.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { type ShownMachine, type ShownModel, type ShownTopology, servicesHref } from '../model-data.ts';
import { CloudServiceCard } from './cloud-service-card.tsx';
import type { ModelAct } from './model-acts.ts';
import { firstServices, isMatch, linesOf, rolesOf } from './role-lines.ts';
import { RoleTable } from './role-table.tsx';
import { TopologySummary } from './topology-summary.tsx';

/** Roles that the page shows at first, and that each request for more adds. */
const pageRoles = 100;

interface Read<T> {
  data: T | undefined;
  error: unknown;
  errorUpdatedAt: number;
  refetch(): unknown;
}

export interface TopologyViewProps {
  model: ShownModel;
  topology: Read<ShownTopology>;
  machines: Read<{ items: ShownMachine[] }>;
  onAct(act: ModelAct): void;
}

/** The cloud services of a model with their roles. Without availability sets, each has one role, so they are one table. */
export function TopologyView({ model, topology, machines, onAct }: TopologyViewProps) {
  const { t } = useTranslation('models');
  const [search, setSearch] = useState('');
  const [most, setMost] = useState(pageRoles);
  if (topology.data === undefined) return <NoTopology topology={topology} />;
  const items = machines.data?.items ?? [];
  const services = topology.data.cloudServices;
  const found =
    search.trim() === ''
      ? services
      : services.filter((service) => linesOf([service], []).some((line) => isMatch(line, search)));
  const shown = firstServices(found, most);
  const hidden = found.slice(shown.length).reduce((sum, service) => sum + rolesOf(service), 0);
  return (
    <>
      <TopologySummary model={model} services={services} machines={items} proxy={topology.data.proxy}>
        {services.length > 1 ? (
          <SearchInput
            className="w-72 max-sm:w-full"
            label={t('topology.search')}
            value={search}
            maxLength={200}
            onChange={(event) => setSearch(event.target.value)}
          />
        ) : null}
      </TopologySummary>
      <Stale topology={topology} machines={machines} />
      {services.length === 0 ? (
        <NoServices model={model} onAct={onAct} />
      ) : shown.length === 0 ? (
        <Card>
          <EmptyState
            title={t('topology.noMatch.title')}
            actions={<Button onClick={() => setSearch('')}>{t('topology.noMatch.clear')}</Button>}
          >
            <p>{t('topology.noMatch.why')}</p>
          </EmptyState>
        </Card>
      ) : model.availabilitySetsEnabled ? (
        <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
          {shown.map((service) => (
            <CloudServiceCard
              key={service.name}
              service={service}
              machines={items}
              proxy={topology.data?.proxy ?? 'off'}
              onAct={onAct}
            />
          ))}
        </div>
      ) : (
        <Card>
          <RoleTable label={t('topology.machines')} lines={linesOf(shown, items)} hasServices onAct={onAct} />
        </Card>
      )}
      {hidden === 0 ? null : (
        <Button className="mt-3" onClick={() => setMost(most + pageRoles)}>
          {hidden <= pageRoles
            ? t('topology.rest', { count: hidden })
            : t('topology.more', { count: pageRoles, hidden })}
        </Button>
      )}
    </>
  );
}

/** Says that the page shows earlier data, or no health, because it could not be loaded. */
function Stale({ topology, machines }: Pick<TopologyViewProps, 'topology' | 'machines'>) {
  const { t } = useTranslation('models');
  const failed = [machines, topology].find(({ error }) => error);
  if (failed === undefined) return null;
  const refetch = () => [machines, topology].map((read) => read.refetch());
  return (
    <Card className="mb-4">
      <QueryError
        title={t(machines.data === undefined ? 'topology.machinesFailed' : 'topology.stale')}
        error={failed.error}
        onRetry={refetch}
        at={new Date(failed.errorUpdatedAt)}
      />
    </Card>
  );
}

function NoTopology({ topology }: Pick<TopologyViewProps, 'topology'>) {
  const { t } = useTranslation('models');
  return (
    <Card>
      {topology.error ? (
        <QueryError
          title={t('topology.failed')}
          error={topology.error}
          onRetry={topology.refetch}
          at={new Date(topology.errorUpdatedAt)}
        />
      ) : (
        <SkeletonRows columns={['w-40', 'w-64', 'w-24']} rows={6} label={t('topology.loading')} />
      )}
    </Card>
  );
}

/** Says how the first machine is created; with availability sets, that only units get machines. */
function NoServices({ model, onAct }: Pick<TopologyViewProps, 'model' | 'onAct'>) {
  const { t } = useTranslation('models');
  const may = useReader().can('operator');
  const { availabilitySetsEnabled, life } = model;
  if (life !== 'alive') return null;
  const act = availabilitySetsEnabled ? (
    <Button asChild>
      <Link href={servicesHref(model.name)}>{t('topology.empty.services')}</Link>
    </Button>
  ) : (
    <Button onClick={() => onAct({ kind: 'addMachine' })}>{t('act.addMachine')}</Button>
  );
  return (
    <Card>
      <EmptyState title={t('topology.empty.title')} actions={may ? act : undefined}>
        <p>{t(availabilitySetsEnabled ? 'topology.empty.sets' : 'topology.empty.how')}</p>
      </EmptyState>
    </Card>
  );
}
