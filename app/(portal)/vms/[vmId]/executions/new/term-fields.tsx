'use client';

import type { ComponentProps } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Field } from '#app/_ui/field.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Input, Textarea } from '#app/_ui/input.tsx';
import { Select } from '#app/_ui/select.tsx';
import { useSeconds } from '#app/(portal)/executions/use-seconds.ts';
import { type Terms, type TermUnit, termsOf, units } from './terms.ts';

/** The choices for how long an execution may wait, in seconds. */
const validities = [3_600, 86_400, 604_800, 2_592_000];

export interface TermFieldsProps {
  terms: Terms;
  onChange(terms: Terms): void;
  /** Whether to offer a note. */
  withNote?: boolean;
}

/** How long an execution may run, how long it may wait, and a note. */
export function TermFields({ terms, onChange, withNote = true }: TermFieldsProps) {
  const { t } = useTranslation(['executions', 'common']);
  const format = useFormat();
  const inWords = useSeconds();
  const offered = validities.includes(terms.validForSeconds)
    ? validities
    : [...validities, terms.validForSeconds].toSorted((a, b) => a - b);
  return (
    <>
      <Field
        label={t('executions:run.timeout')}
        hint={t('executions:run.timeout.hint')}
        error={termsOf(terms) === null ? t('executions:run.timeout.range', { days: format.number(7) }) : undefined}
      >
        <TimeWithUnit terms={terms} onChange={onChange} />
      </Field>
      <Field label={t('executions:run.validity')} hint={t('executions:run.validity.hint')}>
        <Select
          value={String(terms.validForSeconds)}
          onChange={(event) => onChange({ ...terms, validForSeconds: Number(event.target.value) })}
          options={offered.map((seconds) => ({ value: String(seconds), label: inWords(seconds) }))}
        />
      </Field>
      {withNote ? (
        <Field label={t('executions:run.note')} note={t('common:optional')}>
          <Textarea
            rows={2}
            maxLength={500}
            value={terms.note}
            onChange={(event) => onChange({ ...terms, note: event.target.value })}
          />
        </Field>
      ) : null}
    </>
  );
}

interface TimeWithUnitProps extends Pick<ComponentProps<'input'>, 'id' | 'aria-describedby' | 'aria-invalid'> {
  terms: Terms;
  onChange(terms: Terms): void;
}

/** A number and its unit. They are one control, so that the field's hint or error has the width of both. */
function TimeWithUnit({ terms, onChange, ...input }: TimeWithUnitProps) {
  const { t } = useTranslation('executions');
  return (
    <span className="flex gap-2">
      <Input
        {...input}
        inputMode="numeric"
        className="min-w-0 flex-1"
        value={terms.time}
        onChange={(event) => onChange({ ...terms, time: event.target.value })}
      />
      <Select
        aria-label={t('run.unit')}
        className="w-28"
        value={terms.unit}
        onChange={(event) => onChange({ ...terms, unit: event.target.value as TermUnit })}
        options={Object.keys(units).map((unit) => ({ value: unit, label: t(`run.unit.${unit as TermUnit}`) }))}
      />
    </span>
  );
}
