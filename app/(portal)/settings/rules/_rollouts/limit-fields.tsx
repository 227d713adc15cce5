'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Field } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import type { RulesFieldsProps } from './rules-form.ts';

/** The rate and the number in flight of all rollouts together, and the tag that names availability sets. */
export function LimitFields({ form, edit, faultOf }: RulesFieldsProps) {
  const { t } = useTranslation('settings');
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3 sm:grid-cols-3">
      <Field label={t('rollouts.rate')} hint={t('rollouts.rate.hint')} error={faultOf('/stepsPerSecond')}>
        <Input
          type="number"
          min={1}
          max={5_000}
          value={form.stepsPerSecond}
          onChange={(event) => edit({ stepsPerSecond: event.target.value })}
        />
      </Field>
      <Field label={t('rollouts.inFlight')} hint={t('rollouts.inFlight.hint')} error={faultOf('/inFlight')}>
        <Input
          type="number"
          min={1}
          max={20_000}
          value={form.inFlight}
          onChange={(event) => edit({ inFlight: event.target.value })}
        />
      </Field>
      <Field label={t('rollouts.tag')} hint={t('rollouts.tag.hint')} error={faultOf('/availabilitySetTag')}>
        <Input
          mono
          maxLength={256}
          autoComplete="off"
          value={form.availabilitySetTag}
          onChange={(event) => edit({ availabilitySetTag: event.target.value })}
        />
      </Field>
    </div>
  );
}
