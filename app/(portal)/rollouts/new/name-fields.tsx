'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Field } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import type { FormFaults } from './faults.ts';
import type { RolloutForm } from './rollout-form.ts';

export interface NameFieldsProps {
  form: RolloutForm;
  set(change: Partial<RolloutForm>): void;
  suggested: string;
  faults: FormFaults;
}

/** The name and the note of a rollout. */
export function NameFields({ form, set, suggested, faults }: NameFieldsProps) {
  const { t } = useTranslation('rollouts');
  return (
    <div className="mb-4 grid gap-3 sm:grid-cols-[minmax(0,1fr)_minmax(0,2fr)]">
      <Field label={t('new.name')} error={faults.at('/name')}>
        <Input
          value={form.name}
          placeholder={suggested}
          maxLength={200}
          autoComplete="off"
          onChange={(event) => set({ name: event.target.value })}
        />
      </Field>
      <Field label={t('new.note')} error={faults.at('/note')}>
        <Input
          value={form.note}
          maxLength={4000}
          autoComplete="off"
          onChange={(event) => set({ note: event.target.value })}
        />
      </Field>
    </div>
  );
}
