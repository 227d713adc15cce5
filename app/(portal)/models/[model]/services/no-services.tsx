'use client';

import Link from 'next/link';
import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { Status } from '#app/_ui/status.tsx';
import type { VmHealth } from '#server/domain/verdicts/words.ts';
import { type ShownModel, servicesHref } from '../../model-data.ts';
import { type ServiceAct, takesServices } from './service-acts.ts';
import type { ServicesRead } from './use-services.ts';

/** Says what a service is, and how the first one is deployed. */
export function NoServices({ model, onAct }: { model: ShownModel; onAct(act: ServiceAct): void }) {
  const { t } = useTranslation('services');
  const may = useReader().can('operator');
  const isOpen = takesServices(model);
  if (model.life !== 'alive') return null;
  return (
    <Card>
      <EmptyState
        title={t('model.empty.title')}
        actions={
          may && isOpen ? <Button onClick={() => onAct({ kind: 'deploy' })}>{t('act.deploy')}</Button> : undefined
        }
      >
        <p>{t('model.empty.what')}</p>
        <p>{t(!may ? 'model.empty.viewer' : isOpen ? 'model.empty.how' : 'model.empty.bootstrap')}</p>
      </EmptyState>
    </Card>
  );
}

/** Shown while the services are loaded, or if they could not be loaded. */
export function ServicesNotLoaded({ services }: { services: ServicesRead }) {
  const { t } = useTranslation('services');
  return (
    <Card className="mb-4">
      <CardHeader title={t('model.services')} />
      {services.error ? (
        <QueryError
          title={t('model.servicesFailed')}
          error={services.error}
          onRetry={() => services.refetch()}
          at={new Date(services.errorUpdatedAt)}
        />
      ) : (
        <SkeletonRows columns={['w-40', 'w-64', 'w-24']} rows={6} label={t('model.servicesLoading')} />
      )}
    </Card>
  );
}

/** Shown if no service matches the search, or has a unit of the chosen health. */
export function NoMatch({ model, onClear }: { model: string; onClear: (() => void) | undefined }) {
  const { t } = useTranslation('services');
  return (
    <EmptyState
      as="h3"
      title={t('model.noMatch.title')}
      actions={
        onClear === undefined ? (
          <Button asChild>
            <Link href={servicesHref(model)}>{t('model.allServices')}</Link>
          </Button>
        ) : (
          <Button onClick={onClear}>{t('model.noMatch.clear')}</Button>
        )
      }
    >
      <p>{t(onClear === undefined ? 'units.noneOfHealth.why' : 'model.noMatch.why')}</p>
    </EmptyState>
  );
}

/** Says that only services with a unit of one health are shown. */
export function HealthFilter({ model, health }: { model: string; health: VmHealth }) {
  const { t } = useTranslation(['services', 'reports']);
  return (
    <>
      <Status status={statusOfHealth[health]} className="text-12 whitespace-normal">
        {t('services:model.onlyHealth', { health: t(`reports:health.${health}`) })}
      </Status>
      <Button size="sm" asChild>
        <Link href={servicesHref(model)}>{t('services:model.allServices')}</Link>
      </Button>
    </>
  );
}
