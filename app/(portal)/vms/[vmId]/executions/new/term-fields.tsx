'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Field } from '#app/_ui/field.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Input, Textarea } from '#app/_ui/input.tsx';
import { Select } from '#app/_ui/select.tsx';
import { executionLimits } from '#protocol/executions/limits.ts';

const units = { s: 1, min: 60, h: 3_600 } as const;
type Unit = keyof typeof units;

/** Times in seconds from which the reader chooses how long an execution may wait. */
const validities = [3_600, 86_400, 604_800, 2_592_000];

/** The terms as the reader enters them. */
export interface Terms {
  time: string;
  unit: Unit;
  validForSeconds: number;
  note: string;
}

export const firstTerms: Terms = {
  time: String(executionLimits.timeoutSeconds.usual / units.min),
  unit: 'min',
  validForSeconds: executionLimits.validForSeconds.usual,
  note: '',
};

/** Returns the terms as the portal expects them; null while the timeout is not valid. */
export function termsOf({ time, unit, validForSeconds, note }: Terms) {
  const { least, most } = executionLimits.timeoutSeconds;
  const timeoutSeconds = /^\d{1,7}$/.test(time.trim()) ? Number(time) * units[unit] : 0;
  if (timeoutSeconds < least || timeoutSeconds > most) return null;
  return { timeoutSeconds, validForSeconds, ...(note.trim() !== '' && { note: note.trim() }) };
}

export interface TermFieldsProps {
  terms: Terms;
  onChange(terms: Terms): void;
}

/** The time that an execution may take and wait, and a note. */
export function TermFields({ terms, onChange }: TermFieldsProps) {
  const { t } = useTranslation(['executions', 'common']);
  const format = useFormat();
  const validityWords = (seconds: number) =>
    seconds < 86_400
      ? t('common:time.for.h', { n: seconds / 3_600 })
      : t('common:time.for.d', { count: seconds / 86_400 });
  return (
    <>
      <div className="flex items-start gap-2">
        <Field
          label={t('executions:run.timeout')}
          hint={t('executions:run.timeout.hint')}
          error={termsOf(terms) === null ? t('executions:run.timeout.range', { days: format.number(7) }) : undefined}
          className="flex-1"
        >
          <Input
            inputMode="numeric"
            value={terms.time}
            onChange={(event) => onChange({ ...terms, time: event.target.value })}
          />
        </Field>
        <Field label={t('executions:run.unit')} className="w-28">
          <Select
            value={terms.unit}
            onChange={(event) => onChange({ ...terms, unit: event.target.value as Unit })}
            options={Object.keys(units).map((unit) => ({
              value: unit,
              label: t(`executions:run.unit.${unit as Unit}`),
            }))}
          />
        </Field>
      </div>
      <Field label={t('executions:run.validity')} hint={t('executions:run.validity.hint')}>
        <Select
          value={String(terms.validForSeconds)}
          onChange={(event) => onChange({ ...terms, validForSeconds: Number(event.target.value) })}
          options={validities.map((seconds) => ({ value: String(seconds), label: validityWords(seconds) }))}
        />
      </Field>
      <Field label={t('executions:run.note')} note={t('common:optional')}>
        <Textarea
          rows={2}
          maxLength={500}
          value={terms.note}
          onChange={(event) => onChange({ ...terms, note: event.target.value })}
        />
      </Field>
    </>
  );
}
