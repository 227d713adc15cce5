'use client';

import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useRowKeys } from '#app/_lib/use-row-keys.ts';
import { Card } from '#app/_ui/card.tsx';
import { Num } from '#app/_ui/num.tsx';
import { RowLink } from '#app/_ui/row-link.tsx';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { MachineHealthNumbers, UnitHealthNumbers } from './health-numbers.tsx';
import { type ListedModel, modelHref, needsOf, placeHref, servicesHref } from './model-data.ts';
import { ModelNeeds } from './model-needs.tsx';

/** The models by name. `j` and `k` move the cursor; Enter opens a model. */
export function ModelTable({ rows }: { rows: readonly ListedModel[] }) {
  const { t } = useTranslation('models');
  const { cursor, list } = useRowKeys<HTMLTableSectionElement>({
    hrefs: rows.map(({ name }) => modelHref(name)),
    labels: { next: t('keys.next'), previous: t('keys.previous'), open: t('keys.open') },
  });
  return (
    <Card>
      <TableFrame label={t('title')}>
        <Table>
          <THead>
            <tr>
              <Th>{t('column.model')}</Th>
              <Th end className="max-md:hidden">
                {t('column.services')}
              </Th>
              <Th className="max-md:hidden">{t('column.units')}</Th>
              <Th end>{t('column.machines')}</Th>
              <Th className="max-lg:hidden">{t('column.health')}</Th>
              <Th className="w-full max-sm:hidden">{t('column.needs')}</Th>
              <Th className="max-lg:hidden">{t('column.mode')}</Th>
              <Th className="max-lg:hidden">{t('column.location')}</Th>
            </tr>
          </THead>
          <TBody ref={list}>
            {rows.map((row) => (
              <ModelRow key={row.name} row={row} cursor={modelHref(row.name) === cursor} />
            ))}
          </TBody>
        </Table>
      </TableFrame>
    </Card>
  );
}

function ModelRow({ row, cursor }: { row: ListedModel; cursor: boolean }) {
  const { t } = useTranslation('models');
  const { name, machines, controllers, availabilitySetsEnabled, location, health } = row;
  const needs = needsOf(row);
  return (
    <Tr cursor={cursor} className="relative">
      <Td className="max-w-72 py-1.5 max-sm:w-full max-sm:max-w-0">
        <RowLink href={modelHref(name)} prefetch={false} translate="no" className="block">
          {name}
        </RowLink>
        <span className="mt-1 flex flex-wrap items-center gap-x-3 text-12 md:hidden">
          {row.services === 0 ? null : (
            <>
              <Link
                href={servicesHref(name)}
                prefetch={false}
                className="relative z-1 inline-flex min-h-6 items-center text-ink-2 hover:underline"
              >
                {t('list.services', { count: row.services })}
              </Link>
              <UnitHealthNumbers model={name} health={row.units} className="flex-wrap" />
            </>
          )}
        </span>
        {needs.length === 0 ? null : (
          <span className="mt-1 block whitespace-normal sm:hidden">
            <ModelNeeds model={name} needs={needs} />
          </span>
        )}
      </Td>
      <Td end className="text-ink-2 max-md:hidden">
        <Services name={name} services={row.services} />
      </Td>
      <Td className="max-md:hidden">
        <UnitHealthNumbers model={name} health={row.units} />
      </Td>
      <Td end className="text-ink-2 tabular-nums">
        {controllers === 0 ? null : (
          <span className="me-3 text-12 text-ink-3 max-lg:hidden">{t('list.controllers', { count: controllers })}</span>
        )}
        <Machines name={name} machines={machines} />
      </Td>
      <Td className="max-lg:hidden">
        <MachineHealthNumbers of={{ model: name }} health={health} />
      </Td>
      <Td className="whitespace-normal max-sm:hidden">
        <ModelNeeds model={name} needs={needs} />
      </Td>
      <Td className="text-ink-2 max-lg:hidden">{t(availabilitySetsEnabled ? 'mode.on' : 'mode.off')}</Td>
      <Td translate="no" className="max-w-40 truncate text-ink-2 max-lg:hidden">
        {location}
      </Td>
    </Tr>
  );
}

/** The number of machines of a model, which opens their list. */
function Machines({ name, machines }: Pick<ListedModel, 'name' | 'machines'>) {
  const { t } = useTranslation('models');
  return machines === 0 ? (
    <span className="text-ink-3">{t('list.noMachines')}</span>
  ) : (
    <Link
      href={placeHref({ model: name })}
      prefetch={false}
      data-count={machines}
      aria-label={t('list.machines', { count: machines })}
      className="relative z-1 inline-flex min-h-6 min-w-6 items-center justify-end rounded-xs hover:underline"
    >
      <Num value={machines} />
    </Link>
  );
}

/** The number of services of a model, which opens them. */
function Services({ name, services }: Pick<ListedModel, 'name' | 'services'>) {
  const { t } = useTranslation('models');
  return services === 0 ? (
    <span className="text-ink-3">{t('list.noServices')}</span>
  ) : (
    <Link
      href={servicesHref(name)}
      prefetch={false}
      aria-label={t('list.services', { count: services })}
      className="relative z-1 inline-flex min-h-6 min-w-6 items-center justify-end rounded-xs hover:underline"
    >
      <Num value={services} />
    </Link>
  );
}
