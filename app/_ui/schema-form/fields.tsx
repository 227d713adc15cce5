'use client';

import type { FieldProps } from '@rjsf/utils';
import { useContext, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { jsonPointer } from '#protocol/pointer.ts';
import { Button } from '../button.tsx';
import { ControlRow, Field, FieldError } from '../field.tsx';
import { Input, Textarea } from '../input.tsx';
import { Select } from '../select.tsx';
import { Switch } from '../switch.tsx';
import { SurroundingsContext } from './surroundings.ts';
import { Theirs } from './theirs.tsx';

/** Returns the parts that every field has around its control. */
function useAround({ schema, fieldPathId, name, required }: FieldProps) {
  const { t } = useTranslation(['editor', 'common']);
  const { faultAt, wasAt } = useContext(SurroundingsContext);
  const { path } = fieldPathId;
  const last = path.at(-1);
  const was = wasAt(path);
  const fallback = schema['x-default'];
  const ours = [
    fallback === undefined
      ? undefined
      : typeof fallback === 'boolean'
        ? t(fallback ? 'field.defaultOn' : 'field.defaultOff')
        : t('field.default', { value: String(fallback) }),
    was === undefined ? undefined : t('field.was', { value: was }),
  ].filter((sentence) => sentence !== undefined);
  const own = typeof last === 'number' ? t('field.entry', { number: last + 1 }) : <span translate="no">{name}</span>;
  return {
    t,
    id: fieldPathId.$id,
    at: jsonPointer(path),
    inArray: typeof last === 'number',
    label: schema.title === undefined ? own : <Theirs>{schema.title}</Theirs>,
    note: required && typeof last !== 'number' ? t('common:required') : undefined,
    error: faultAt(path),
    hint:
      ours.length === 0 && !schema.description ? undefined : (
        <>
          <Theirs>{schema.description}</Theirs>
          {separator(schema.description, ours)}
          {ours.join(' ')}
        </>
      ),
  };
}

/** Returns what separates a description from the sentences after it. Descriptions often have no full stop at their end. */
function separator(description: string | undefined, after: readonly string[]): string {
  if (!description || after.length === 0) return '';
  return /[\p{Po}]\s*$/u.test(description) ? ' ' : ' · ';
}

/** Edits text, or offers a choice of a few values. */
export function StringField(props: FieldProps) {
  const { id, at, inArray, label, note, error, hint, t } = useAround(props);
  const { formData, fieldPathId, onChange, disabled, schema } = props;
  const change = (value: unknown) => onChange(value, fieldPathId.path);
  const choices: unknown = schema['x-choices'];
  return (
    <div data-at={at}>
      <Field id={id} label={label} note={note} error={error} hint={hint}>
        {Array.isArray(choices) ? (
          <Select
            disabled={disabled}
            value={String(choices.findIndex((choice) => choice.value === formData))}
            onChange={(event) => change(choices[Number(event.target.value)]?.value)}
            options={[
              { value: '-1', label: formData === undefined ? t('field.notSet') : String(formData) },
              ...choices.map((choice, index) => ({ value: String(index), label: choice.label })),
            ]}
          />
        ) : (
          <TextControl
            disabled={disabled}
            value={textOf(formData)}
            onText={(text) => change(text === '' && !inArray ? undefined : text)}
          />
        )}
      </Field>
    </div>
  );
}

interface TextControlProps {
  value: string;
  onText(text: string): void;
  disabled?: boolean;
  id?: string;
}

/** A text with several lines gets a text area, because an input drops line breaks. */
function TextControl({ value, onText, ...props }: TextControlProps) {
  return value.includes('\n') ? (
    <Textarea mono spellCheck={false} {...props} value={value} onChange={(event) => onText(event.target.value)} />
  ) : (
    <Input
      mono
      autoComplete="off"
      spellCheck={false}
      {...props}
      value={value}
      onChange={(event) => onText(event.target.value)}
    />
  );
}

/** Edits a number as typed. Invalid text stays text, so that the portal can report it. */
export function NumberField(props: FieldProps) {
  const { id, at, label, note, error, hint } = useAround(props);
  const { formData, fieldPathId, onChange, disabled } = props;
  const [typed, setTyped] = useState(textOf(formData));
  const shown = sameNumber(typed, formData) ? typed : textOf(formData);
  return (
    <div data-at={at}>
      <Field id={id} label={label} note={note} error={error} hint={hint}>
        <Input
          className="tabular-nums"
          inputMode="decimal"
          autoComplete="off"
          disabled={disabled}
          value={shown}
          onChange={(event) => {
            setTyped(event.target.value);
            onChange(numberOf(event.target.value), fieldPathId.path);
          }}
        />
      </Field>
    </div>
  );
}

/** A switch. Until it is set, it shows the publisher's default. */
export function BooleanField(props: FieldProps) {
  const { id, at, label, error, hint } = useAround(props);
  const { formData, fieldPathId, onChange, disabled, schema } = props;
  return (
    <div data-at={at} className="grid gap-1 self-center">
      <ControlRow
        hint={hint}
        control={
          <Switch
            id={id}
            disabled={disabled}
            aria-invalid={error === undefined ? undefined : true}
            checked={typeof formData === 'boolean' ? formData : schema['x-default'] === true}
            onCheckedChange={(checked) => onChange(checked, fieldPathId.path)}
          />
        }
      >
        {label}
      </ControlRow>
      <div aria-live="polite" className="empty:hidden">
        {error === undefined ? null : <FieldError>{error}</FieldError>}
      </div>
    </div>
  );
}

/** Shows the value of a setting that a form cannot edit, with a button that goes to its line in the JSON. */
export function JsonOnlyField(props: FieldProps) {
  const { at, label, note, error, t } = useAround(props);
  const { onEditJson } = useContext(SurroundingsContext);
  const { formData, fieldPathId, schema } = props;
  return (
    <div data-at={at} className="col-span-full grid gap-[5px]">
      <div className="text-12 font-medium">
        {label}
        {note === undefined ? null : <span className="ms-1 font-normal text-ink-3">{note}</span>}
      </div>
      <div className="flex min-h-10 flex-wrap items-center gap-2 rounded-md bg-sunken py-1 ps-3 pe-[5px] shadow-hair">
        <span translate={formData === undefined ? undefined : 'no'} className="mono min-w-0 flex-1 truncate text-ink-2">
          {formData === undefined ? t('field.notSet') : JSON.stringify(formData)}
        </span>
        <Button size="sm" onClick={() => onEditJson(fieldPathId.path)}>
          {t('field.editJson')}
        </Button>
      </div>
      {error === undefined ? null : <FieldError>{error}</FieldError>}
      {error === undefined && schema.description !== undefined ? (
        <p className="text-12 text-ink-3">
          <Theirs>{schema.description}</Theirs>
        </p>
      ) : null}
    </div>
  );
}

function textOf(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function numberOf(text: string): number | string | undefined {
  const plain = text.trim().replace(/^([^.,]*),([^.,]*)$/, '$1.$2');
  if (plain === '') return undefined;
  const value = Number(plain);
  return Number.isFinite(value) ? value : text;
}

function sameNumber(typed: string, value: unknown): boolean {
  return numberOf(typed) === value;
}
