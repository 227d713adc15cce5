'use client';

import { Lock, ShieldCheck } from 'lucide-react';
import Link from 'next/link';
import type { ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { MachineHealthNumbers } from '../health-numbers.tsx';
import {
  placeHref,
  type ShownCloudService,
  type ShownMachine,
  type ShownModel,
  type ShownTopology,
} from '../model-data.ts';
import { countHealth, rolesOf } from './role-lines.ts';

export interface TopologySummaryProps {
  model: ShownModel;
  services: readonly ShownCloudService[];
  machines: readonly ShownMachine[];
  /** Whether public addresses are served. */
  proxy: ShownTopology['proxy'];
  /** The search field. */
  children: ReactNode;
}

/** The size of a model, the health of its machines, and how many deployments the agreement covers. */
export function TopologySummary({ model, services, machines, proxy, children }: TopologySummaryProps) {
  const { t } = useTranslation('models');
  const format = useFormat();
  const may = useReader().can('operator');
  const roles = services.reduce((sum, service) => sum + rolesOf(service), 0);
  const deployments = services.flatMap((service) => service.deployments);
  const covered = deployments.filter((one) => one.covered).length;
  const { availabilitySetsEnabled, bootstrappedAt, life, name } = model;
  const refuses = may && availabilitySetsEnabled && bootstrappedAt !== null && life === 'alive';
  if (services.length === 0 && !refuses) return null;
  return (
    <div className="mb-3 flex flex-wrap items-center gap-x-5 gap-y-2 tabular-nums">
      {services.length === 0 ? null : (
        <>
          <h2 className="font-medium">{t('topology.services', { count: services.length })}</h2>
          <Link
            href={placeHref({ model: name })}
            prefetch={false}
            data-count={roles}
            className="rounded-xs text-ink-2 hover:underline"
          >
            {t('topology.roles', { count: roles })}
          </Link>
          <MachineHealthNumbers of={{ model: name }} health={countHealth(machines)} className="flex-wrap" />
          <span className="text-ink-3">{t(`proxy.${proxy}`)}</span>
          {availabilitySetsEnabled ? (
            <span className="inline-flex items-start gap-1.5 text-ink-2">
              <ShieldCheck aria-hidden className="mt-[3px] size-3.5 shrink-0 text-ink-3" />
              {t('topology.covered', {
                count: deployments.length,
                covered: format.number(covered),
                all: format.number(deployments.length),
              })}
            </span>
          ) : null}
        </>
      )}
      {refuses ? (
        <span className="inline-flex min-w-0 items-start gap-1.5 text-12 text-ink-3">
          <Lock aria-hidden className="mt-[3px] size-3 shrink-0" />
          <span className="min-w-0">{t('addMachine.refusal')}</span>
        </span>
      ) : null}
      <span className="ms-auto max-sm:w-full">{children}</span>
    </div>
  );
}
