'use client';

import type { RJSFSchema } from '@rjsf/utils';
import { type ClipboardEvent, useEffect, useId, useRef, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Checkbox } from '#app/_ui/checkbox.tsx';
import { ControlRow, Field } from '#app/_ui/field.tsx';
import { Input, Textarea } from '#app/_ui/input.tsx';
import { Theirs } from '#app/_ui/schema-form/theirs.tsx';
import { Select } from '#app/_ui/select.tsx';

export interface SecretFieldProps {
  name: string;
  title: string;
  /** The setting's part of the publisher's schema. */
  schema: RJSFSchema;
  required: boolean;
  value: unknown;
  onChange(value: unknown): void;
  fault: string | undefined;
  takesFocus: boolean;
  /** A sentence shown after the hint. */
  note?: string | undefined;
  /** A sentence that says when the value is encrypted; by default that it is encrypted when the change is applied. */
  hint?: string;
}

/**
 * An input for one protected setting. Switches to a text area when several lines are pasted, because an input drops
 * line breaks.
 */
export function SecretField(props: SecretFieldProps) {
  const { name, title, schema, required, value, onChange, fault, takesFocus, note, hint } = props;
  const { t } = useTranslation(['editor', 'common']);
  const id = useId();
  const place = useRef<HTMLDivElement>(null);
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    if (takesFocus) place.current?.querySelector<HTMLElement>('input, textarea, select')?.focus();
  }, [takesFocus]);

  const choices: readonly { value: unknown; label: string }[] | undefined = Array.isArray(schema['x-choices'])
    ? schema['x-choices']
    : schema.type === 'boolean'
      ? [true, false].map((choice) => ({ value: choice, label: String(choice) }))
      : undefined;
  const isText = schema.type === 'string';
  const secretive = {
    autoComplete: 'new-password',
    autoCapitalize: 'off',
    spellCheck: false,
    'data-1p-ignore': '',
  } as const;
  const paste = (event: ClipboardEvent) => {
    if (!event.clipboardData.getData('text').includes('\n')) return;
    event.preventDefault();
    setLong(true);
    onChange(event.clipboardData.getData('text'));
  };

  return (
    <div ref={place} data-at={`protected:/${name}`}>
      <Field
        id={id}
        label={<Theirs>{title}</Theirs>}
        note={required ? t('common:required') : undefined}
        hint={
          <>
            <Theirs>{schema.description}</Theirs> {hint ?? t('protected.sealedWhenApplied')} {note}
          </>
        }
        error={fault === undefined ? undefined : required && value === undefined ? t('protected.required') : fault}
      >
        {choices !== undefined ? (
          <Select
            value={String(choices.findIndex((choice) => choice.value === value))}
            onChange={(event) => onChange(choices[Number(event.target.value)]?.value)}
            options={[
              { value: '-1', label: t('field.notSet') },
              ...choices.map((choice, index) => ({ value: String(index), label: choice.label })),
            ]}
          />
        ) : isText && !isLong ? (
          <Input
            mono
            type="password"
            {...secretive}
            value={typeof value === 'string' ? value : ''}
            onPaste={paste}
            onChange={(event) => onChange(event.target.value === '' ? undefined : event.target.value)}
          />
        ) : isText ? (
          <Textarea
            mono
            rows={4}
            {...secretive}
            className="[-webkit-text-security:disc]"
            value={typeof value === 'string' ? value : ''}
            onChange={(event) => onChange(event.target.value === '' ? undefined : event.target.value)}
          />
        ) : (
          <JsonText
            secretive={secretive}
            onChange={onChange}
            isNumber={schema.type !== undefined && schema.type !== 'array' && schema.type !== 'object'}
          />
        )}
      </Field>
    </div>
  );
}

/** An input for a setting without a schema: text, or any JSON value. */
export function FreeSecretField(props: Omit<SecretFieldProps, 'schema'>) {
  const { t } = useTranslation('editor');
  const [isJson, setJson] = useState(false);
  return (
    <div className="grid gap-1.5">
      <SecretField key={String(isJson)} {...props} schema={isJson ? {} : { type: 'string' }} />
      <ControlRow
        control={
          <Checkbox
            checked={isJson}
            onCheckedChange={(checked) => {
              setJson(checked === true);
              props.onChange(undefined);
            }}
          />
        }
      >
        {t('protected.isJson')}
      </ControlRow>
    </div>
  );
}

interface JsonTextProps {
  secretive: Record<string, unknown>;
  isNumber: boolean;
  onChange(value: unknown): void;
  id?: string;
}

/**
 * An input for a number, a list or an object as JSON. Invalid text is sent unchanged, so that the server reports the
 * error at this field.
 */
function JsonText({ secretive, isNumber, onChange, ...props }: JsonTextProps) {
  const [text, setText] = useState('');
  const change = (typed: string) => {
    setText(typed);
    onChange(typed.trim() === '' ? undefined : parsed(typed));
  };
  return isNumber ? (
    <Input
      mono
      type="password"
      {...secretive}
      {...props}
      value={text}
      onChange={(event) => change(event.target.value)}
    />
  ) : (
    <Textarea mono {...secretive} {...props} value={text} onChange={(event) => change(event.target.value)} />
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
