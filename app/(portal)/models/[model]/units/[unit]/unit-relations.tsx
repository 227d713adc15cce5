'use client';

import Link from 'next/link';
import { useId } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { cn } from '#app/_ui/cn.ts';
import { useFormat } from '#app/_ui/format.ts';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { StatusIcon, type StatusName } from '#app/_ui/status-icon.tsx';
import { relationHref } from '../../services/service-data.ts';
import type { NamedUnit, RelationOfUnit } from '../unit-data.ts';
import type { useUnitRelations } from '../use-unit.ts';

export interface UnitRelationsProps {
  name: NamedUnit;
  relations: ReturnType<typeof useUnitRelations>;
}

/** The relations of a unit, as the unit sees them. */
export function UnitRelations({ name, relations: { data, error, refetch, errorUpdatedAt } }: UnitRelationsProps) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const id = useId();
  const count = data?.items.length ?? 0;
  return (
    <Card aria-labelledby={id}>
      <CardHeader id={id} title={t('model.relations')} note={count > 1 ? format.number(count) : undefined} />
      {data === undefined ? (
        error ? (
          <QueryError
            title={t('model.relationsFailed')}
            error={error}
            onRetry={refetch}
            at={new Date(errorUpdatedAt)}
          />
        ) : (
          <SkeletonRows columns={['w-20', 'w-24']} rows={1} label={t('model.relationsLoading')} />
        )
      ) : count === 0 ? (
        <p className="px-4 pb-4 text-pretty text-ink-2">{t('unit.noRelations')}</p>
      ) : (
        <ul>
          {data.items.map((relation) => (
            <Line key={relation.id} name={name} relation={relation} />
          ))}
        </ul>
      )}
    </Card>
  );
}

function Line({ name, relation }: { name: NamedUnit; relation: RelationOfUnit }) {
  const { t } = useTranslation('services');
  const { number, service, side } = relation;
  const state = stateOf(relation);
  return (
    <li className="border-t border-line-subtle">
      <Link
        href={relationHref(name.model, number)}
        prefetch={false}
        className="flex min-h-9 items-center gap-2 px-4 py-1.5 hover:bg-hover"
      >
        <StatusIcon status={statusOfState[state]} />
        <span className="min-w-0 flex-1 wrap-anywhere">
          <span translate="no" className="font-medium">
            {relation.name}
          </span>{' '}
          <span translate={side === 'peer' ? undefined : 'no'} className="text-ink-2">
            {side === 'peer' ? t('relations.peers') : service}
          </span>
        </span>
        <span
          data-st={state === 'failing' ? 'failed' : undefined}
          className={cn('text-12', state === 'failing' ? 'font-medium text-st-text' : 'text-ink-2')}
        >
          {t(`unit.relation.${state}`, { count: state === 'behind' ? relation.behind : relation.members })}
        </span>
      </Link>
    </li>
  );
}

type State = 'failing' | 'left' | 'leaving' | 'behind' | 'settled';

const statusOfState: Readonly<Record<State, StatusName>> = {
  failing: 'failed',
  left: 'disabled',
  leaving: 'progressing',
  behind: 'progressing',
  settled: 'healthy',
};

function stateOf({ failing, state, life, behind }: RelationOfUnit): State {
  if (failing !== null) return 'failing';
  if (state === 'broken') return 'left';
  if (state !== 'in' || life === 'dying') return 'leaving';
  return behind > 0 ? 'behind' : 'settled';
}
