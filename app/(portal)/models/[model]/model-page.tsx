'use client';

import { useQuery } from '@tanstack/react-query';
import dynamic from 'next/dynamic';
import Link from 'next/link';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { problemOf } from '#app/_lib/problem.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useThrottledReload } from '#app/_lib/use-throttled-reload.ts';
import { Button } from '#app/_ui/button.tsx';
import { Card } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import type { VmHealth } from '#server/domain/verdicts/words.ts';
import {
  type AddedMachine,
  ageMs,
  healthOfNeed,
  needsOf,
  type ShownMachine,
  type ShownModel,
  type ShownTopology,
} from '../model-data.ts';
import type { ModelAct } from './model-acts.ts';
import { ModelHead } from './model-head.tsx';
import { ModelTabs } from './model-tabs.tsx';
import { type ModelView, viewOf } from './model-views.ts';
import { NeedsCard } from './needs-card.tsx';
import { countHealth } from './role-lines.ts';
import { serviceNeeds } from './services/needs/service-needs.ts';
import {
  explainedHealths,
  type ShownRecentRun,
  type ShownRelation,
  type ShownService,
  unitsByHealth,
} from './services/service-data.ts';
import { useServiceActs } from './services/use-service-acts.tsx';
import { type FirstRead, useRelations, useServices } from './services/use-services.ts';
import { useModelCommands } from './use-model-commands.ts';

// Rendered by the server; their scripts follow the page's.
const ServicesView = dynamic(() => import('./services/services-view.tsx').then((module) => module.ServicesView));
const TopologyView = dynamic(() => import('./topology-view.tsx').then((module) => module.TopologyView));
const ModelDialogs = dynamic(() => import('./model-dialogs.tsx').then((module) => module.ModelDialogs), { ssr: false });
const NewMachinesDialog = dynamic(
  () => import('./new-machines-dialog.tsx').then((module) => module.NewMachinesDialog),
  { ssr: false },
);

export interface ModelPageProps {
  /** The view in the URL; undefined if it names none. */
  view: ModelView | undefined;
  /** Only services with a unit of this health; undefined for all. */
  health: VmHealth | undefined;
  /** What the server read at `readAt` (milliseconds since 1970); undefined if it could not read a part. */
  first: ShownModel;
  services: FirstRead<ShownService>;
  relations: FirstRead<ShownRelation>;
  runs: FirstRead<ShownRecentRun>;
  topology: ShownTopology | undefined;
  machines: { items: ShownMachine[] } | undefined;
  readAt: number;
}

/** One model, with live data. Each card fails independently. */
export function ModelPage({ view: wanted, health, first, readAt, ...read }: ModelPageProps) {
  const trpc = useTRPC();
  const [act, setAct] = useState<ModelAct | null>(null);
  const [added, setAdded] = useState<readonly AddedMachine[]>([]);
  const { name } = first;
  const { data: model, error } = useQuery({
    ...trpc.models.get.queryOptions({ model: name }),
    ...{ initialData: first, initialDataUpdatedAt: readAt, retry: false },
  });
  const services = useServices({ model: name }, read.services, readAt);
  const relations = useRelations(name, read.relations, readAt);
  const topology = useTopology(name, read.topology, readAt);
  const machines = useMachines(name, read.machines, readAt);
  const serviceActs = useServiceActs(model);
  useModelCommands(model, setAct, serviceActs.act);
  if (error && problemOf(error).status === 404) return <ModelGone name={name} />;
  const view = viewOf(wanted, model, services.data?.items.length ?? 0);
  const listed = machines.data?.items ?? [];
  const explained = view === 'services' ? explainedHealths(listed, services.data?.items ?? []) : [];
  const needs = needsOf({ ...model, health: countHealth(listed) }).filter(
    (need) => !('count' in need && explained.includes(healthOfNeed(need))),
  );
  const isNew = model.bootstrappedAt === null && model.cloudServices === 0;
  return (
    <>
      <ModelHead
        model={model}
        view={view}
        machines={listed}
        units={services.isPending && !services.error ? undefined : unitsByHealth(services.data?.items ?? [])}
        needs={needs.length + (view === 'services' ? serviceNeeds(services.data?.items ?? []).length : 0)}
        onAct={setAct}
        onServiceAct={serviceActs.act}
      />
      {isNew ? null : <ModelTabs model={name} current={view} services={services.data?.items.length} />}
      {isNew || view === 'topology' ? <NeedsCard model={model} needs={needs} onAct={setAct} /> : null}
      {isNew ? null : view === 'services' ? (
        <ServicesView
          model={model}
          services={services}
          relations={relations}
          runs={read.runs}
          readAt={readAt}
          health={health}
          needs={needs}
          onAct={serviceActs.act}
          onModelAct={setAct}
        />
      ) : (
        <TopologyView model={model} topology={topology} machines={machines} onAct={setAct} />
      )}
      {serviceActs.dialogs}
      {act === null ? null : <ModelDialogs act={act} model={model} onAdded={setAdded} onClose={() => setAct(null)} />}
      {added.length === 0 ? null : <NewMachinesDialog machines={added} onClose={() => setAdded([])} />}
    </>
  );
}

function useTopology(model: string, first: ShownTopology | undefined, readAt: number) {
  const trpc = useTRPC();
  const query = useQuery({
    ...trpc.models.topology.queryOptions({ model }),
    ...(first !== undefined && { initialData: first, initialDataUpdatedAt: readAt }),
    enabled: false,
  });
  const { refetch } = query;
  useThrottledReload({ queryKey: trpc.models.topology.queryKey({ model }), refetch, agesMs: 60_000 });
  return query;
}

function useMachines(model: string, first: ModelPageProps['machines'], readAt: number) {
  const trpc = useTRPC();
  const query = useQuery({
    ...trpc.models.machines.queryOptions({ model }),
    ...(first !== undefined && { initialData: first, initialDataUpdatedAt: readAt }),
    enabled: false,
  });
  const { refetch } = query;
  useThrottledReload({ queryKey: trpc.models.machines.queryKey({ model }), refetch, agesMs: ageMs });
  return query;
}

/** Shown once the model is destroyed. */
function ModelGone({ name }: { name: string }) {
  const { t } = useTranslation('models');
  return (
    <Card>
      <EmptyState
        as="h1"
        title={t('gone.title', { name })}
        actions={
          <Button asChild>
            <Link href="/models">{t('gone.act')}</Link>
          </Button>
        }
      >
        <p>{t('gone.why')}</p>
      </EmptyState>
    </Card>
  );
}
