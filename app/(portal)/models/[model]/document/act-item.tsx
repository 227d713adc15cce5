'use client';

import type { ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { ActDetails } from './act-details.tsx';
import type { ShownPlan, ShownPlanAct } from './document-data.ts';

export interface ActItemProps {
  model: string;
  act: ShownPlanAct;
  number: number;
  warnings: ShownPlan['warnings'];
  onGoTo(pointer: string): void;
}

/** One act of a plan, with the part of the document that leads to it. */
export function ActItem({ model, act, number, warnings, onGoTo }: ActItemProps) {
  const { t } = useTranslation('services');
  const isRolling = act.kind === 'settings' || act.kind === 'upgrade' || act.kind === 'stage';
  const failing = isRolling ? warnings.filter(({ unit }) => act.units.includes(unit)) : [];
  return (
    <li className="grid grid-cols-[1.5rem_minmax(0,1fr)] gap-x-2 border-t border-line-subtle px-4 py-3">
      <span className="text-ink-3 tabular-nums">{number}</span>
      <div className="grid min-w-0 gap-1">
        <div className="flex flex-wrap items-baseline gap-x-3">
          <h3 className="min-w-0 flex-[1_1_10rem] font-medium wrap-anywhere">
            <ActTitle model={model} act={act} />
          </h3>
          <button
            type="button"
            translate="no"
            title={t('document.show')}
            className="mono rounded-xs text-12 text-ink-3 wrap-anywhere hover:text-ink hover:underline"
            onClick={() => onGoTo(act.path)}
          >
            {act.path}
          </button>
        </div>
        <ActDetails act={act} />
        {failing.map(({ unit }) => (
          <p key={unit} className="flex gap-1.5 text-12">
            <StatusIcon status="warning" className="mt-0.5 text-warning-text" />
            <span>{t('document.warning.unitFailing', { unit })}</span>
          </p>
        ))}
      </div>
    </li>
  );
}

function ActTitle({ model, act }: Pick<ActItemProps, 'model' | 'act'>): ReactNode {
  const { t } = useTranslation('services');
  switch (act.kind) {
    case 'createModel':
      return t('document.act.createModel', { model });
    case 'bootstrap':
      return t('document.act.bootstrap', { model });
    case 'expose':
      return t(act.exposed ? 'document.act.expose' : 'document.act.unexpose', { service: act.service });
    case 'addMachine':
      return t('document.act.addMachine', { machine: `${model}-${act.machine}` });
    case 'addUnits':
      return t(act.slot === 'staging' ? 'document.act.stageUnits' : 'document.act.addUnits', {
        ...{ count: act.units.length, service: act.service },
      });
    case 'relate': {
      const [one, other] = act.endpoints;
      return t('document.act.relate', { one, other });
    }
    default:
      return t(`document.act.${act.kind}`, { service: act.service });
  }
}
