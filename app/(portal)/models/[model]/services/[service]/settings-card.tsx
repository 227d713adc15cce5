'use client';

import { Lock } from 'lucide-react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { RelativeTime } from '#app/_ui/time.tsx';
import type { ServiceDetails } from '../service-data.ts';
import { shownSettings } from './shown-settings.ts';

export interface ServiceSettingsProps {
  details: { data: ServiceDetails | undefined; error: unknown; errorUpdatedAt: number; refetch(): unknown };
}

/** The settings of a service with their defaults. Viewers see only the names. */
export function SettingsCard({ details }: ServiceSettingsProps) {
  const { t } = useTranslation('services');
  const { data } = details;
  return (
    <Card className="mb-4" aria-labelledby="settings">
      <CardHeader
        id="settings"
        title={t('column.settings')}
        note={
          data === undefined ? undefined : (
            <Trans
              text={t('settings.changed', { name: data.settingsChangedBy })}
              tags={{ when: <RelativeTime value={new Date(data.settingsChangedAt)} /> }}
            />
          )
        }
      />
      {details.error ? (
        <QueryError
          title={t(data === undefined ? 'settings.failed' : 'settings.stale')}
          error={details.error}
          onRetry={details.refetch}
          at={new Date(details.errorUpdatedAt)}
        />
      ) : data === undefined ? (
        <SkeletonRows columns={['w-32', 'w-48']} rows={3} label={t('settings.loading')} />
      ) : null}
      {data === undefined ? null : (
        <CardBody className="grid grid-cols-[minmax(0,1fr)] gap-2">
          <Settings details={data} />
        </CardBody>
      )}
    </Card>
  );
}

function Settings({ details }: { details: ServiceDetails }) {
  const { t } = useTranslation('services');
  const shown = shownSettings(details);
  const isHidden = shown.some(({ value }) => value === null);
  return (
    <>
      {isHidden ? <p className="text-ink-2">{t('settings.viewer')}</p> : null}
      {shown.length === 0 ? <p className="text-ink-3">{t('settings.none')}</p> : null}
      {shown.length === 0 ? null : (
        <dl className="grid grid-cols-[minmax(0,auto)_minmax(0,1fr)] items-baseline gap-x-6 gap-y-1 max-sm:grid-cols-[minmax(0,1fr)] max-sm:gap-y-0">
          {shown.map(({ key, value, isDefault }) => (
            <div key={key} className="contents">
              <dt translate="no" className="mono wrap-anywhere text-ink-2">
                {key}
              </dt>
              <dd className="flex min-w-0 flex-wrap items-baseline gap-x-2 max-sm:mb-2">
                {value === null ? null : (
                  <span translate="no" className="mono line-clamp-4 min-w-0 wrap-anywhere">
                    {value}
                  </span>
                )}
                {isDefault ? <span className="text-12 text-ink-3">{t('settings.default')}</span> : null}
              </dd>
            </div>
          ))}
        </dl>
      )}
      {details.hasProtectedSettings ? (
        <p className="flex items-center gap-1.5 text-12 text-ink-3">
          <Lock aria-hidden className="size-3.5 shrink-0" />
          {t('settings.hasProtected')}
        </p>
      ) : null}
    </>
  );
}
