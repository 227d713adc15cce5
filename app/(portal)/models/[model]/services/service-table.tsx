'use client';

import { Globe } from 'lucide-react';
import Link from 'next/link';
import type { ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { RowLink } from '#app/_ui/row-link.tsx';
import { Status } from '#app/_ui/status.tsx';
import { Td, Th, Tr } from '#app/_ui/table.tsx';
import { MenuCell, RowTable } from './row-table.tsx';
import { addressesOf, missingRelations, portsOf, type ShownService, serviceHref } from './service-data.ts';
import { ServiceHealth } from './service-health.tsx';
import { UnitStrip } from './unit-strip.tsx';

export interface ServiceTableProps {
  model: string;
  services: readonly ShownService[];
  /** The number of each service's relations, by its name; undefined if the relations have not loaded. */
  relationsOf: ReadonlyMap<string, number> | undefined;
  /** Renders the menu of a service; undefined for readers who may not act. */
  menuOf: ((service: ShownService) => ReactNode) | undefined;
}

/** The services of a model. `j` and `k` move the cursor; Enter opens a service. */
export function ServiceTable({ model, services, relationsOf, menuOf }: ServiceTableProps) {
  const { t } = useTranslation('services');
  return (
    <RowTable
      label={t('model.services')}
      rows={services}
      hrefOf={({ name }) => serviceHref(model, name)}
      keys={{ next: t('keys.next'), previous: t('keys.previous'), open: t('keys.open') }}
      hasMenus={menuOf !== undefined}
      heads={
        <>
          <Th className="w-1/4 max-sm:w-full">{t('column.service')}</Th>
          <Th className="max-sm:hidden">{t('column.health')}</Th>
          <Th className="max-sm:hidden">{t('column.units')}</Th>
          <Th className="max-lg:hidden">{t('column.formula')}</Th>
          <Th end className="max-md:hidden">
            {t('column.relations')}
          </Th>
          <Th className="max-md:hidden">{t('column.exposed')}</Th>
        </>
      }
    >
      {(service, isCursor) => (
        <ServiceRow
          key={service.name}
          model={model}
          service={service}
          relations={relationsOf && (relationsOf.get(service.name) ?? 0)}
          cursor={isCursor}
          menu={menuOf?.(service)}
        />
      )}
    </RowTable>
  );
}

interface ServiceRowProps {
  model: string;
  service: ShownService;
  relations: number | undefined;
  cursor: boolean;
  menu: ReactNode;
}

function ServiceRow({ model, service, relations, cursor, menu }: ServiceRowProps) {
  const { t } = useTranslation('services');
  const { name, formula, version, life } = service;
  const missing = life === 'alive' ? missingRelations(service) : [];
  return (
    <Tr cursor={cursor} leaving={life !== 'alive'} className="relative">
      <Td className="max-w-80 py-1.5">
        <RowLink href={serviceHref(model, name)} prefetch={false} translate="no" className="block">
          {name}
        </RowLink>
        {missing.map((endpoint) => (
          <span key={endpoint.name} data-st="warning" className="block text-12 whitespace-normal text-st-text">
            {t('service.needs', { name: endpoint.name, interface: endpoint.interface })}
          </span>
        ))}
        <span translate="no" className="mono-11 block truncate text-ink-3 lg:hidden">
          {formula} {version}
        </span>
        <span className="mt-1 flex flex-wrap items-center gap-2 text-12 sm:hidden">
          <ServiceHealth service={service} />
          <UnitStrip model={model} service={service} />
        </span>
      </Td>
      <Td className="max-sm:hidden">
        <ServiceHealth service={service} />
      </Td>
      <Td className="whitespace-normal max-sm:hidden">
        <UnitStrip model={model} service={service} />
      </Td>
      <Td translate="no" className="max-w-56 py-1.5 max-lg:hidden">
        <span className="mono block truncate">{formula}</span>
        <span className="block text-12 text-ink-3 tabular-nums">{version}</span>
      </Td>
      <Td end className="tabular-nums max-md:hidden">
        {relations === undefined ? null : relations === 0 ? (
          <span className="text-ink-3">{t('service.noRelations')}</span>
        ) : (
          <Link
            href={`${serviceHref(model, name)}#relations`}
            prefetch={false}
            aria-label={t('destroy.relations', { count: relations })}
            className="relative z-1 inline-flex min-h-6 min-w-6 items-center justify-end rounded-xs hover:underline"
          >
            {relations}
          </Link>
        )}
      </Td>
      <Td className="py-1.5 max-md:hidden">
        <Exposure service={service} />
      </Td>
      <MenuCell menu={menu} />
    </Tr>
  );
}

/** Whether the public address leads to a service's ports, and which ports are open. */
export function Exposure({ service }: { service: Pick<ShownService, 'exposed' | 'units'> }) {
  const { t } = useTranslation('services');
  const ports = portsOf(service);
  const addresses = addressesOf(service);
  return (
    <>
      {service.exposed ? (
        <span className="flex items-baseline gap-1.5">
          <Globe aria-hidden className="size-3.5 shrink-0 self-center text-ink-2" />
          <span
            translate={addresses.length > 0 ? 'no' : undefined}
            className={addresses.length > 0 ? 'mono' : undefined}
          >
            {addresses.length > 2 ? t('service.addresses', { count: addresses.length }) : addresses.join(', ')}
            {addresses.length === 0 ? t('service.exposed') : null}
          </span>
          <span className="sr-only">{t('service.exposed')}</span>
        </span>
      ) : (
        <span className="text-ink-3">{t('service.hidden')}</span>
      )}
      {ports.length === 0 ? null : (
        <span className="block max-w-40 truncate text-12 text-ink-3 tabular-nums" title={ports.join(', ')}>
          {ports.join(', ')}
        </span>
      )}
      {service.exposed && ports.length === 0 ? (
        <Status status="waiting" className="text-12">
          {t('service.noPorts')}
        </Status>
      ) : null}
    </>
  );
}
