'use client';

import { useState } from 'react';
import { forgetError } from '#app/_lib/forget-error.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Field } from '#app/_ui/field.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Input } from '#app/_ui/input.tsx';
import { FormDialog } from '#app/(portal)/settings/form-dialog.tsx';
import type { ServiceDialogsProps } from '../service-acts.ts';
import { leavingUnits, type ShownService } from '../service-data.ts';
import { useSetService } from './use-set-service.ts';

export interface RemoveUnitsDialogProps extends Pick<ServiceDialogsProps, 'model' | 'onClose'> {
  service: ShownService;
}

/** Number of units that the dialog names. */
const maxNamed = 12;

/** Removes the units with the highest numbers. Names them. */
export function RemoveUnitsDialog({ model, service, onClose }: RemoveUnitsDialogProps) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const explain = useProblem();
  const living = service.units.filter(({ life, isStaged }) => life === 'alive' && !isStaged).length;
  const [kept, setKept] = useState(String(Math.max(0, living - 1)));
  const remove = useSetService({ onDone: onClose });
  const units = Number(kept);
  const leaving = leavingUnits(service, units);
  const names = leaving.slice(0, maxNamed).map(({ unit }) => unit);
  const { name, formula, version } = service;
  return (
    <FormDialog
      title={t('removeUnits.title', { name })}
      description={t(model.availabilitySetsEnabled ? 'removeUnits.why.sets' : 'removeUnits.why')}
      act={t('removeUnits.act', { count: leaving.length })}
      isDanger
      busy={remove.isPending}
      onEdit={() => forgetError(remove)}
      onSubmit={() => {
        if (leaving.length > 0) {
          remove.mutate({ model: model.name, service: name, formula, version, units, ifMatch: model.revision });
        }
      }}
      onClose={onClose}
      error={remove.error === null ? undefined : explain(remove.error).message}
    >
      <Field label={t('removeUnits.kept')} hint={t('removeUnits.kept.hint', { count: living })}>
        <Input
          type="number"
          required
          min={0}
          max={Math.max(0, living - 1)}
          step={1}
          value={kept}
          onChange={(event) => setKept(event.target.value)}
        />
      </Field>
      <p aria-live="polite" className="text-ink-2">
        {leaving.length === 0
          ? t('removeUnits.none')
          : t('removeUnits.leaving', {
              count: leaving.length,
              names: format.list(
                leaving.length > maxNamed ? [...names, t('units.more', { count: leaving.length - maxNamed })] : names,
              ),
            })}
      </p>
    </FormDialog>
  );
}
