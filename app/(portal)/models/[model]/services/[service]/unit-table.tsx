'use client';

import Link from 'next/link';
import type { ReactNode } from 'react';
import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { RowLink } from '#app/_ui/row-link.tsx';
import { Status } from '#app/_ui/status.tsx';
import { Td, Th, Tr } from '#app/_ui/table.tsx';
import { Chip } from '#app/_ui/tag.tsx';
import { MenuCell, RowTable } from '../row-table.tsx';
import { type ShownService, type ShownUnit, unitHref } from '../service-data.ts';
import { useUnitReason } from '../use-unit-reason.ts';

export interface UnitTableProps {
  model: string;
  service: Pick<ShownService, 'version' | 'settingsVersion'>;
  units: readonly ShownUnit[];
  /** Renders the menu of a unit; undefined for readers who may not act. */
  menuOf: ((unit: ShownUnit) => ReactNode) | undefined;
}

/** The units of a service by number. `j` and `k` move the cursor; Enter opens a unit. */
export function UnitTable({ model, service, units, menuOf }: UnitTableProps) {
  const { t } = useTranslation('services');
  return (
    <RowTable
      label={t('column.units')}
      rows={units}
      hrefOf={({ unit }) => unitHref(model, unit)}
      keys={{ next: t('keys.nextUnit'), previous: t('keys.previousUnit'), open: t('keys.openUnit') }}
      hasMenus={menuOf !== undefined}
      heads={
        <>
          <Th className="w-1/3 max-sm:w-full">{t('column.unit')}</Th>
          <Th className="max-sm:hidden">{t('column.stage')}</Th>
          <Th className="max-sm:hidden">{t('column.machine')}</Th>
          <Th className="max-md:hidden">{t('column.version')}</Th>
          <Th end className="max-lg:hidden">
            {t('column.settings')}
          </Th>
          <Th className="max-lg:hidden">{t('column.ports')}</Th>
          <Th className="max-md:hidden">{t('column.next')}</Th>
        </>
      }
    >
      {(unit, isCursor) => (
        <UnitRow key={unit.unit} model={model} service={service} unit={unit} cursor={isCursor} menu={menuOf?.(unit)} />
      )}
    </RowTable>
  );
}

interface UnitRowProps extends Pick<UnitTableProps, 'model' | 'service'> {
  unit: ShownUnit;
  cursor: boolean;
  menu: ReactNode;
}

function UnitRow({ model, service, unit, cursor, menu }: UnitRowProps) {
  const { t } = useTranslation(['services', 'reports']);
  const reason = useUnitReason();
  const { health, stage, vm, vmId, life, isStaged } = unit;
  const why = reason(unit);
  return (
    <Tr cursor={cursor} leaving={life !== 'alive'} className="relative">
      <Td className="max-w-112 py-1.5">
        <span className="flex min-w-0 flex-wrap items-center gap-x-3">
          <RowLink href={unitHref(model, unit.unit)} prefetch={false} translate="no">
            {unit.unit}
          </RowLink>
          <Status status={statusOfHealth[health]}>{t(`reports:health.${health}`)}</Status>
          {isStaged ? <Chip>{t('services:addUnits.slot.staging')}</Chip> : null}
        </span>
        {why === null ? null : (
          <span className="line-clamp-3 text-12 wrap-anywhere whitespace-normal text-ink-2">{why}</span>
        )}
        <span className="block text-12 text-ink-3 sm:hidden">
          {t(`services:stage.${stage}`)} · <span translate="no">{vm}</span>
        </span>
      </Td>
      <Td className="text-ink-2 max-sm:hidden">{t(`services:stage.${stage}`)}</Td>
      <Td className="max-w-48 max-sm:hidden">
        <Link
          href={`/vms/${vmId}`}
          prefetch={false}
          translate="no"
          className="relative z-1 block truncate rounded-xs hover:underline"
        >
          {vm}
        </Link>
      </Td>
      <Td translate="no" className="tabular-nums max-md:hidden">
        <Behind isBehind={!isStaged && unit.version !== service.version}>{unit.version}</Behind>
      </Td>
      <Td end className="tabular-nums max-lg:hidden">
        <Behind isBehind={!isStaged && unit.settingsVersion !== service.settingsVersion}>{unit.settingsVersion}</Behind>
      </Td>
      <Td className="max-w-40 truncate text-ink-2 tabular-nums max-lg:hidden" title={unit.ports.join(', ')}>
        {unit.ports.length === 0 ? (
          <span className="text-ink-3">{t('services:units.noPorts')}</span>
        ) : (
          unit.ports.join(', ')
        )}
      </Td>
      <Td className="max-w-64 truncate max-md:hidden">
        <NextHook unit={unit} />
      </Td>
      <MenuCell menu={menu} />
    </Tr>
  );
}

/** A version, pale if the service already has another one. */
function Behind({ isBehind, children }: { isBehind: boolean; children: ReactNode }) {
  const { t } = useTranslation('services');
  return isBehind ? (
    <span className="text-ink-3">
      {children}
      <span className="sr-only"> {t('units.earlier')}</span>
    </span>
  ) : (
    children
  );
}

/** The hook that runs, or that runs next. */
function NextHook({ unit: { running, next } }: { unit: ShownUnit }) {
  const { t } = useTranslation('services');
  if (running !== null) {
    return (
      <Status status="progressing">
        <span translate="no" className="mono">
          {running}
        </span>
        <span className="sr-only">{t('units.running')}</span>
      </Status>
    );
  }
  if (next === null) return <span className="text-ink-3">{t('units.noHook')}</span>;
  return (
    <span translate="no" className="mono text-ink-2" title={next.remoteUnit ?? undefined}>
      {next.hook}
      {next.remoteUnit === null ? null : <span className="text-ink-3"> {next.remoteUnit}</span>}
    </span>
  );
}
