'use client';

import { useReader } from '#app/_shell/reader.tsx';
import type { VmHealth } from '#server/domain/verdicts/words.ts';
import type { ModelNeed, ShownModel } from '../../model-data.ts';
import type { ModelAct } from '../model-acts.ts';
import { NeedLines, NeedsCard } from '../needs-card.tsx';
import { RunsCard } from './[service]/runs-card.tsx';
import { ServiceNeedsCard } from './needs/service-needs-card.tsx';
import { NoServices, ServicesNotLoaded } from './no-services.tsx';
import { RelationsCard } from './relations-card.tsx';
import { type ServiceAct, takesServices } from './service-acts.ts';
import type { ShownRecentRun } from './service-data.ts';
import { ServicesCard } from './services-card.tsx';
import type { FirstRead, RelationsRead, ServicesRead } from './use-services.ts';

export interface ServicesViewProps {
  model: ShownModel;
  services: ServicesRead;
  relations: RelationsRead;
  /** The latest runs of hooks as the server read them at `readAt`. */
  runs: FirstRead<ShownRecentRun>;
  readAt: number;
  /** Only services with a unit of this health; undefined for all. */
  health: VmHealth | undefined;
  /** What needs attention among the machines. */
  needs: readonly ModelNeed[];
  onAct(act: ServiceAct): void;
  onModelAct(act: ModelAct): void;
}

/** The services of a model with what needs attention, the relations between them, and the latest hooks. */
export function ServicesView(props: ServicesViewProps) {
  const { model, services, relations, runs, readAt, health, needs, onAct, onModelAct } = props;
  const may = useReader().can('operator') && takesServices(model);
  const items = services.data?.items;
  if (items?.length === 0) {
    return (
      <>
        <NeedsCard model={model} needs={needs} onAct={onModelAct} />
        <NoServices model={model} onAct={onAct} />
      </>
    );
  }
  return (
    <>
      <ServiceNeedsCard
        model={model}
        services={items ?? []}
        others={needs.length}
        otherLines={<NeedLines model={model} needs={needs} onAct={onModelAct} />}
        onAct={onAct}
      />
      {items === undefined ? (
        <ServicesNotLoaded services={services} />
      ) : (
        <ServicesCard
          model={model.name}
          services={services}
          relations={relations}
          health={health}
          onAct={may ? onAct : undefined}
        />
      )}
      <RelationsCard
        model={model.name}
        relations={relations}
        onRelate={may ? () => onAct({ kind: 'relate' }) : undefined}
      />
      <RunsCard model={model.name} first={runs} readAt={readAt} />
    </>
  );
}
