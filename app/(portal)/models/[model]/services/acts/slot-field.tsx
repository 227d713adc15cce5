'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Field } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import { Select } from '#app/_ui/select.tsx';

/** Where new units are, and the version of those in Staging. */
export interface SlotValues {
  isStaged: boolean;
  version: string;
}

export interface SlotFieldProps {
  value: SlotValues;
  onChange(value: SlotValues): void;
}

/** Chooses the slot of new units and, in Staging, their version. */
export function SlotField({ value, onChange }: SlotFieldProps) {
  const { t } = useTranslation('services');
  return (
    <>
      <Field label={t('addUnits.slot')} hint={value.isStaged ? t('addUnits.slot.hint') : undefined}>
        <Select
          value={value.isStaged ? 'staging' : 'production'}
          onChange={(event) => onChange({ ...value, isStaged: event.target.value === 'staging' })}
          options={[
            { value: 'production', label: t('addUnits.slot.production') },
            { value: 'staging', label: t('addUnits.slot.staging') },
          ]}
        />
      </Field>
      {value.isStaged ? (
        <Field label={t('addUnits.version')} hint={t('addUnits.version.hint')}>
          <Input
            value={value.version}
            onChange={(event) => onChange({ ...value, version: event.target.value.trim() })}
          />
        </Field>
      ) : null}
    </>
  );
}

/** Returns the slot and the version as a request names them. */
export const slotOf = ({ isStaged, version }: SlotValues): { slot?: 'staging'; version?: string } =>
  isStaged ? { slot: 'staging', ...(version !== '' && { version }) } : {};
