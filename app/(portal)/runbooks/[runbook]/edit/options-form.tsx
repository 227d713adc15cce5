'use client';

import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button, IconButton } from '#app/_ui/button.tsx';
import { ControlRow, Field, FieldError } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import { Select } from '#app/_ui/select.tsx';
import { Switch } from '#app/_ui/switch.tsx';
import {
  environmentOf,
  isNamed,
  switchesOf,
  textsOf,
  timeoutOf,
  type VariableRow,
  withOption,
} from './script-options.ts';
import { optionsPlace, type TypedTexts } from './typed-texts.ts';

type Values = Readonly<Record<string, unknown>>;

export interface OptionsFormProps {
  /** The name of the script. */
  name: string;
  /** The type of the script. */
  type: string;
  options: Values;
  typed: TypedTexts;
  onOptions(options: Values): void;
  /** Stores a text that is not valid yet, or removes it with null. */
  onTyped(place: string, text: string | null): void;
}

/** The options of a script as fields. */
export function OptionsForm({ name: script, type, options, typed, onOptions, onTyped }: OptionsFormProps) {
  const { t } = useTranslation(['runbooks', 'common']);
  const set = (name: string, value: unknown, fallback?: unknown) =>
    onOptions(withOption(options, name, value, fallback));
  const held = (option: string): Held => {
    const place = optionsPlace(script, option);
    return { place: `/plan${place}`, typed: typed[place], onTyped: (text) => onTyped(place, text) };
  };
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3 sm:grid-cols-2">
      <Timeout {...held('timeout')} value={options.timeout} onChange={(timeout) => set('timeout', timeout)} />
      {type === 'Bash' ? (
        <Field label={t('runbooks:option.shell')}>
          <Select
            value={options.shell === 'sh' ? 'sh' : 'bash'}
            onChange={(event) => set('shell', event.target.value, 'bash')}
            options={['bash', 'sh'].map((shell) => ({ value: shell, label: shell, isName: true }))}
          />
        </Field>
      ) : null}
      {textsOf(type).map((name) => (
        <Field key={name} label={t(`runbooks:option.${name}`)} note={t('common:optional')}>
          <Input
            mono
            spellCheck={false}
            value={typeof options[name] === 'string' ? options[name] : ''}
            onChange={(event) => set(name, event.target.value)}
          />
        </Field>
      ))}
      <div className="grid gap-2 sm:col-span-2 sm:grid-cols-2">
        {switchesOf(type).map(([name, fallback]) => (
          <ControlRow
            key={name}
            control={
              <Switch
                checked={typeof options[name] === 'boolean' ? options[name] : fallback}
                onCheckedChange={(isOn) => set(name, isOn, fallback)}
              />
            }
          >
            {t(`runbooks:option.${name}`)}
          </ControlRow>
        ))}
      </div>
      <Environment
        {...held('environment')}
        value={options.environment}
        onChange={(environment) => set('environment', environment)}
      />
    </div>
  );
}

/** An option whose text can be invalid. */
interface Held {
  place: string;
  /** The invalid text; undefined if the option is valid. */
  typed: string | undefined;
  onTyped(text: string | null): void;
}

interface TimeoutProps extends Held {
  value: unknown;
  onChange(seconds: number | undefined): void;
}

/** The timeout. Text that is not a number stays in the field and does not change the option. */
function Timeout({ place, typed, onTyped, value, onChange }: TimeoutProps) {
  const { t } = useTranslation(['runbooks', 'common']);
  const [shown, setShown] = useState(typed ?? (typeof value === 'number' ? String(value) : ''));
  return (
    <Field
      label={t('runbooks:option.timeout')}
      note={t('common:optional')}
      hint={t('runbooks:option.timeout.hint')}
      error={typed !== undefined ? t('runbooks:option.timeout.wrong') : undefined}
    >
      <Input
        data-at={place}
        inputMode="numeric"
        maxLength={7}
        value={shown}
        onChange={(event) => {
          const seconds = timeoutOf(event.target.value);
          setShown(event.target.value);
          onTyped(seconds === null ? event.target.value : null);
          if (seconds !== null) onChange(seconds);
        }}
      />
    </Field>
  );
}

const rowsOf = (value: unknown): VariableRow[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).map(([name, text], id) => ({ id, name, value: String(text) }))
    : [];

interface EnvironmentProps extends Held {
  value: unknown;
  onChange(value: Values | undefined): void;
}

/** The environment variables of a script. Rows that are not valid yet do not change the option. */
function Environment({ place, typed, onTyped, value, onChange }: EnvironmentProps) {
  const { t } = useTranslation('runbooks');
  const [rows, setRows] = useState<VariableRow[]>(() => (typed === undefined ? rowsOf(value) : JSON.parse(typed)));
  const change = (next: VariableRow[]) => {
    const variables = environmentOf(next);
    setRows(next);
    onTyped(variables === null ? JSON.stringify(next) : null);
    if (variables !== null) onChange(variables);
  };
  const edit = (id: number, part: Partial<VariableRow>) =>
    change(rows.map((row) => (row.id === id ? { ...row, ...part } : row)));
  return (
    <fieldset data-at={place} className="grid grid-cols-[minmax(0,1fr)] gap-2 sm:col-span-2">
      <legend className="mb-1.5 text-12 font-medium">{t('option.environment')}</legend>
      {rows.map(({ id, name, value: text }, index) => (
        <div
          key={id}
          className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-2 max-sm:mb-1 sm:grid-cols-[minmax(0,1fr)_minmax(0,2fr)_auto]"
        >
          <Input
            mono
            aria-label={t('option.variable', { n: index + 1 })}
            aria-invalid={(typed !== undefined && !isNamed(rows, id)) || undefined}
            value={name}
            onChange={(event) => edit(id, { name: event.target.value })}
          />
          <Input
            mono
            aria-label={t('option.variable.value', { n: index + 1 })}
            className="max-sm:order-1 max-sm:col-span-2"
            value={text}
            onChange={(event) => edit(id, { value: event.target.value })}
          />
          <IconButton
            size="sm"
            label={t('option.variable.remove', { n: index + 1 })}
            onClick={() => change(rows.filter((row) => row.id !== id))}
          >
            <X aria-hidden />
          </IconButton>
        </div>
      ))}
      {typed === undefined ? null : <FieldError>{t('option.environment.wrong')}</FieldError>}
      <div className="flex flex-wrap items-center gap-2">
        <Button
          size="sm"
          variant="ghost"
          onClick={() => setRows([...rows, { id: 1 + Math.max(-1, ...rows.map(({ id }) => id)), name: '', value: '' }])}
        >
          <Plus aria-hidden />
          {t('option.variable.add')}
        </Button>
        <span className="text-12 text-ink-3">{t('option.environment.hint')}</span>
      </div>
    </fieldset>
  );
}
