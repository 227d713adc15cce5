'use client';

import Link from 'next/link';
import { useId } from 'react';
import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { Card } from '#app/_ui/card.tsx';
import { cn } from '#app/_ui/cn.ts';
import { Status } from '#app/_ui/status.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { unitHref } from '#app/(portal)/models/[model]/services/service-data.ts';
import { modelHref } from '#app/(portal)/models/model-data.ts';
import { MessageText } from '../message-line.tsx';
import { useQueue } from '../queue/use-queue.ts';
import { type HookEntry, nextHookOf, type ShownVmUnit, worstFirst } from './hook-entries.ts';
import { HookText, HookWaits } from './hook-text.tsx';
import { useVmUnits } from './use-vm-units.ts';

/** The units on a VM, the least healthy first, each with the hook that runs next. Absent if there are none. */
export function UnitsSection({ vmId }: { vmId: string }) {
  const { t } = useTranslation('reports');
  const id = useId();
  const { data, error, refetch, errorUpdatedAt } = useVmUnits(vmId, true);
  const queue = useQueue(vmId).data;
  if (data === undefined) {
    return error === null ? null : (
      <Card className="mt-4">
        <QueryError title={t('units.failed')} error={error} onRetry={refetch} at={new Date(errorUpdatedAt)} />
      </Card>
    );
  }
  if (data.items.length === 0) return null;
  return (
    <section aria-labelledby={id}>
      <div className="mt-5 mb-2.5 flex items-baseline gap-2">
        <h2 id={id} className="text-14 font-semibold">
          {t('units.title')}
        </h2>
        {data.items.length > 1 ? <span className="text-12 text-ink-3">{t('extensions.order')}</span> : null}
      </div>
      <div className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,420px),1fr))] items-start gap-4">
        {worstFirst(data.items).map((unit) => (
          <UnitCard key={unit.unit} unit={unit} next={queue ? nextHookOf(unit.unit, queue) : null} />
        ))}
      </div>
    </section>
  );
}

function UnitCard({ unit, next }: { unit: ShownVmUnit; next: HookEntry | null }) {
  const { t } = useTranslation('reports');
  const { model, stage, health, cause, hook, formula, version, ports, failing, reason } = unit;
  const exitCode = failing.find((failure) => failure.hook === hook)?.exitCode ?? null;
  return (
    <Card className="px-4 py-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h3 className="min-w-0 text-13 font-semibold wrap-anywhere">
          <Link
            href={unitHref(model, unit.unit)}
            prefetch={false}
            translate="no"
            className="rounded-xs hover:underline"
          >
            {unit.unit}
          </Link>
        </h3>
        <span className="text-12 text-ink-2">{t(`units.stage.${stage}`)}</span>
        {health === null ? null : (
          <span className="ms-auto">
            <Status status={statusOfHealth[health]}>{t(`health.${health}`)}</Status>
          </span>
        )}
      </div>
      {reason === null ? null : (
        <p className="mt-1 line-clamp-4 text-pretty wrap-anywhere">
          <MessageText message={reason} />
        </p>
      )}
      {cause === null ? null : (
        <p className={cn('mt-1 text-pretty wrap-anywhere', reason !== null && 'text-12 text-ink-2')}>
          {(t as unknown as (key: string, params: object) => string)(`units.cause.${cause}`, {
            ...{ hook: hook ?? '', code: exitCode ?? '' },
          })}
        </p>
      )}
      <p className="mt-1 flex flex-wrap gap-x-4 text-12 text-ink-2">
        <span translate="no">
          {formula} {version}
        </span>
        <TextLink href={modelHref(model)} prefetch={false} translate="no">
          {model}
        </TextLink>
        {ports.length === 0 ? null : <span>{ports.join(', ')}</span>}
      </p>
      {next === null ? null : (
        <p className="mt-1 text-12 text-pretty wrap-anywhere text-ink-2">
          <span className="text-ink-3">{t(next.since === null ? 'units.next' : 'units.now')}</span>{' '}
          <HookText hook={next} />
          {next.waits === null ? null : (
            <>
              {' · '}
              <HookWaits hook={next} />
            </>
          )}
        </p>
      )}
    </Card>
  );
}
