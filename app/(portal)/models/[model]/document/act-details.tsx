'use client';

import { Fragment } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Change } from './act-change.tsx';
import type { ShownPlanAct } from './document-data.ts';

/** How many units of an act are named. */
const maxNamed = 12;

/** What an act changes, in detail. */
export function ActDetails({ act }: { act: ShownPlanAct }) {
  const { t } = useTranslation('services');
  switch (act.kind) {
    case 'deploy':
      return (
        <p className="text-12 text-ink-2">
          <span translate="no" className="mono">
            {act.formula} {act.version}
          </span>
          {act.exposed ? ` · ${t('document.exposed')}` : null}
        </p>
      );
    case 'settings':
      return (
        <>
          <SettingChanges act={act} />
          <Rolling units={act.units} atOnce={act.atOnce} />
        </>
      );
    case 'upgrade':
    case 'stage':
      return (
        <>
          <p className="text-12">
            <Change before={act.from} after={act.to} />
          </p>
          <Rolling units={act.units} atOnce={act.atOnce} />
        </>
      );
    case 'limits':
      return (
        <p className="text-12 text-ink-2">{act.fields.map((field) => t(`document.limit.${field}`)).join(' · ')}</p>
      );
    case 'addUnits':
      return <NewUnits units={act.units} />;
    case 'relate':
      return <p className="text-12 text-ink-2">{t('document.interface', { name: act.interface })}</p>;
    case 'bootstrap':
      return act.controllers === 0 ? null : (
        <p className="text-12 text-ink-2">{t('document.controllers', { count: act.controllers })}</p>
      );
    default:
      return null;
  }
}

function SettingChanges({ act }: { act: Extract<ShownPlanAct, { kind: 'settings' }> }) {
  const { t } = useTranslation('services');
  const shown = (value: unknown) => (value === undefined ? null : JSON.stringify(value));
  return (
    <ul className="grid gap-0.5 text-12">
      {act.changes.map(({ key, before, after }) => (
        <li key={key} className="flex min-w-0 flex-wrap items-baseline gap-x-2">
          <span translate="no" className="mono wrap-anywhere">
            {key}
          </span>
          <Change before={shown(before)} after={shown(after)} />
        </li>
      ))}
      {act.protectedSettings === null ? null : <li>{t(`document.protected.${act.protectedSettings}`)}</li>}
    </ul>
  );
}

/** The units that change, and how many of them at the same time. */
function Rolling({ units, atOnce }: { units: readonly string[]; atOnce: number | null }) {
  const { t } = useTranslation('services');
  const more = units.length - maxNamed;
  if (units.length === 0) return null;
  return (
    <p className="flex flex-wrap items-baseline gap-x-1.5 gap-y-0.5 text-12 text-ink-2">
      {units.slice(0, maxNamed).map((unit) => (
        <span key={unit} translate="no" className="mono rounded-sm px-1 shadow-hair-subtle">
          {unit}
        </span>
      ))}
      {more > 0 ? <span>{t('document.moreUnits', { count: more })}</span> : null}
      {units.length < 2 ? null : (
        <span className="text-ink-3">
          {atOnce === null ? t('document.atOnce.all') : t('document.atOnce', { count: atOnce })}
        </span>
      )}
    </p>
  );
}

function NewUnits({ units }: { units: Extract<ShownPlanAct, { kind: 'addUnits' }>['units'] }) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const more = units.length - maxNamed;
  return (
    <ul className="grid gap-0.5 text-12 text-ink-2">
      {units.slice(0, maxNamed).map(({ unit, machine, isNewMachine, cloudService }) => (
        <li key={unit} className="min-w-0 wrap-anywhere">
          <span translate="no" className="mono text-ink">
            {unit}
          </span>{' '}
          {t(isNewMachine ? 'document.onNew' : 'document.on', { machine: format.number(machine) })}
          {cloudService === null ? null : (
            <Fragment>
              {' · '}
              <span translate="no" className="mono">
                {cloudService}
              </span>
            </Fragment>
          )}
        </li>
      ))}
      {more > 0 ? <li>{t('document.moreUnits', { count: more })}</li> : null}
    </ul>
  );
}
