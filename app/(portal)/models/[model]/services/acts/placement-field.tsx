'use client';

import { useQuery } from '@tanstack/react-query';
import { Info } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Field } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import { Select } from '#app/_ui/select.tsx';
import { serviceLimits } from '#server/domain/services/input.ts';
import type { ShownModel } from '../../../model-data.ts';

/** How many units, and on which machine: an empty text for a new machine for each unit. */
export interface PlacementValues {
  count: string;
  to: string;
}

export interface PlacementFieldProps {
  model: Pick<ShownModel, 'name' | 'availabilitySetsEnabled'>;
  value: PlacementValues;
  onChange(value: PlacementValues): void;
  /** The minimum number of units. */
  min: 0 | 1;
}

/** The number of new units and their place. With availability sets, says why machines cannot be chosen. */
export function PlacementField({ model, value, onChange, min }: PlacementFieldProps) {
  const { t } = useTranslation('services');
  return (
    <>
      <div className="grid grid-cols-[minmax(0,1fr)_minmax(0,2fr)] gap-3 max-sm:grid-cols-[minmax(0,1fr)]">
        <Field label={t('form.units')}>
          <Input
            type="number"
            required
            min={min}
            max={serviceLimits.unitsAtOnce}
            step={1}
            value={value.count}
            onChange={(event) => onChange({ ...value, count: event.target.value })}
          />
        </Field>
        {model.availabilitySetsEnabled ? null : (
          <MachineField model={model.name} value={value.to} onChange={(to) => onChange({ ...value, to })} />
        )}
      </div>
      {model.availabilitySetsEnabled ? (
        <p className="flex items-start gap-2 text-12 text-pretty text-ink-2">
          <Info aria-hidden className="mt-0.5 size-3.5 shrink-0 text-ink-3" />
          <span>{t('form.placement.sets')}</span>
        </p>
      ) : null}
    </>
  );
}

/** Chooses a machine of the model, or a new machine for each unit. */
function MachineField({ model, value, onChange }: { model: string; value: string; onChange(to: string): void }) {
  const { t } = useTranslation('services');
  const trpc = useTRPC();
  const topology = useQuery(trpc.models.topology.queryOptions({ model }));
  const roles = (topology.data?.cloudServices ?? []).flatMap(({ deployments }) =>
    deployments.flatMap((deployment) => deployment.roles),
  );
  const machines = roles.filter(({ state, controller }) => state === 'ready' && !controller);
  return (
    <Field label={t('form.machine')} hint={value === '' ? t('form.machine.new.hint') : undefined}>
      <Select
        value={value}
        onChange={(event) => onChange(event.target.value)}
        options={[
          { value: '', label: t('form.machine.new') },
          ...machines.map(({ machine, vm }) => ({ value: String(machine), label: vm, isName: true })),
        ]}
      />
    </Field>
  );
}

/** Returns the place as a request names it. */
export const placeOf = ({ to }: Pick<PlacementValues, 'to'>): { to?: number } => (to === '' ? {} : { to: Number(to) });
