'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { Field } from '#app/_ui/field.tsx';
import { Select } from '#app/_ui/select.tsx';
import { useVersions } from './use-versions.ts';

/** Where new units are, and the version of those in Staging. */
export interface SlotValues {
  isStaged: boolean;
  version: string;
}

export interface SlotFieldProps {
  formula: string;
  value: SlotValues;
  onChange(value: SlotValues): void;
}

/** Chooses the slot of new units and, in Staging, their version. */
export function SlotField({ formula, value, onChange }: SlotFieldProps) {
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
        <VersionField formula={formula} value={value.version} onChange={(version) => onChange({ ...value, version })} />
      ) : null}
    </>
  );
}

interface VersionFieldProps {
  formula: string;
  value: string;
  onChange(version: string): void;
}

function VersionField({ formula, value, onChange }: VersionFieldProps) {
  const { t } = useTranslation('services');
  const { published, error, refetch, errorUpdatedAt } = useVersions(formula);
  if (error) {
    return (
      <QueryError title={t('deploy.versionsFailed')} error={error} onRetry={refetch} at={new Date(errorUpdatedAt)} />
    );
  }
  return (
    <Field
      label={t('addUnits.version')}
      hint={t(value === '' ? 'addUnits.version.kept.hint' : 'addUnits.version.hint')}
    >
      <Select
        value={value}
        onChange={(event) => onChange(event.target.value)}
        options={[
          { value: '', label: t('addUnits.version.kept') },
          ...published.map((version) => ({ value: version, label: version, isName: true })),
        ]}
      />
    </Field>
  );
}

/** Returns the slot and the version as a request names them. */
export const slotOf = ({ isStaged, version }: SlotValues): { slot?: 'staging'; version?: string } =>
  isStaged ? { slot: 'staging', ...(version !== '' && { version }) } : {};
