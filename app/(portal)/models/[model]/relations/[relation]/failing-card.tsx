'use client';

import { useId } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { failingGroups } from '../../services/failing-groups.ts';
import { FailingNeed } from '../../services/needs/failing-need.tsx';
import { useRunAgain } from '../../services/needs/use-run-again.ts';
import type { RelationName, RelationParts } from '../relation-data.ts';
import { useFailing } from '../use-relation.ts';
import { FailureCauses } from './failure-causes.tsx';

export interface FailingCardProps {
  name: RelationName;
  /** What the server read at `readAt` (milliseconds since 1970). */
  first: RelationParts['failing'];
  readAt: number;
}

/** The hooks of the relation that fail, by hook and reason, with what caused them, and *Run again*. */
export function FailingCard({ name, first, readAt }: FailingCardProps) {
  const { t } = useTranslation('services');
  const id = useId();
  const may = useReader().can('operator');
  const runAgain = useRunAgain(name.model);
  const { data, error, refetch } = useFailing(name, first, readAt);
  if (data?.items.length === 0) return null;
  const groups = failingGroups(
    (data?.items ?? []).map(({ service, formula, ...unit }) => ({ name: service, formula, units: [unit] })),
  );
  return (
    <Card className="mb-4" aria-labelledby={id}>
      <CardHeader id={id} title={t('relation.failing.title')} />
      {data !== undefined ? null : error ? (
        <QueryError title={t('relation.failing.failed')} error={error} onRetry={refetch} />
      ) : (
        <SkeletonRows columns={['w-48', 'w-96']} rows={2} label={t('relation.failing.loading')} />
      )}
      <div role="alert" className="px-4 empty:hidden">
        {runAgain.error === undefined ? null : <FieldError>{runAgain.error}</FieldError>}
      </div>
      <ul>
        {groups.map((group) => (
          <FailingNeed
            key={group.key}
            {...{ need: { kind: 'failing', group }, model: name.model, may, runAgain }}
            more={<FailureCauses model={name.model} group={group} />}
          />
        ))}
      </ul>
    </Card>
  );
}
