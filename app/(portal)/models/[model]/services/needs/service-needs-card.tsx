'use client';

import { RotateCw } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import { useFormat } from '#app/_ui/format.ts';
import type { ShownModel } from '../../../model-data.ts';
import type { ServiceAct } from '../service-acts.ts';
import type { ShownService } from '../service-data.ts';
import { FailingNeed } from './failing-need.tsx';
import type { NeedProps } from './need-props.ts';
import { EmptyNeed, EnrollNeed, RelationNeed } from './other-needs.tsx';
import { ReleaseNeed } from './release-need.tsx';
import { keyOfNeed, serviceNeeds } from './service-needs.ts';
import { useRunAgain } from './use-run-again.ts';

export interface ServiceNeedsCardProps {
  model: ShownModel;
  /** All services of the model, or the one that the page shows. */
  services: readonly ShownService[];
  /** The service that the page shows; undefined for all. */
  service?: string;
  /** How many other things need attention, and their lines. */
  others?: number;
  otherLines?: ReactNode;
  onAct(act: ServiceAct): void;
}

/** Number of needs that the card shows at first. */
const maxNeeds = 5;

/** What needs attention among services: failing hooks by formula, hook and reason, missing relations, machines. */
export function ServiceNeedsCard(props: ServiceNeedsCardProps) {
  const { model, services, service, others = 0, otherLines, onAct } = props;
  const { t } = useTranslation('services');
  const format = useFormat();
  const may = useReader().can('operator') && model.life === 'alive';
  const [showsAll, setShowsAll] = useState(false);
  const runAgain = useRunAgain(model.name);
  const needs = serviceNeeds(services);
  const count = needs.length + others;
  if (count === 0) return null;
  const failing = needs.filter(({ kind }) => kind === 'failing');
  const shown = showsAll ? needs : needs.slice(0, maxNeeds);
  return (
    <Card className="mb-4" aria-labelledby="needs">
      <CardHeader
        id="needs"
        title={t('needs.title')}
        note={count === 1 ? undefined : format.number(count)}
        actions={
          may && failing.length > 1 ? (
            <Button size="sm" busy={runAgain.isPending} onClick={() => runAgain.all(service)}>
              <RotateCw aria-hidden />
              {t('needs.runAgainAll')}
            </Button>
          ) : undefined
        }
      />
      <div role="alert" className="px-4 empty:hidden">
        {runAgain.error === undefined ? null : <FieldError>{runAgain.error}</FieldError>}
      </div>
      <ul>
        {shown.map((need) => (
          <Need
            key={keyOfNeed(need)}
            need={need}
            model={model.name}
            page={service}
            services={services}
            may={may}
            runAgain={runAgain}
            onAct={onAct}
          />
        ))}
        {otherLines}
      </ul>
      {shown.length === needs.length ? null : (
        <div className="border-t border-line-subtle px-4 py-2.5">
          <Button size="sm" onClick={() => setShowsAll(true)}>
            {t('needs.more', { count: needs.length - shown.length })}
          </Button>
        </div>
      )}
    </Card>
  );
}

function Need({ need, ...props }: NeedProps) {
  switch (need.kind) {
    case 'failing':
      return <FailingNeed need={need} {...props} />;
    case 'release':
      return <ReleaseNeed need={need} {...props} />;
    case 'relation':
      return <RelationNeed need={need} {...props} />;
    case 'enroll':
      return <EnrollNeed need={need} {...props} />;
    case 'empty':
      return <EmptyNeed need={need} {...props} />;
  }
}
