'use client';

import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button, IconButton } from '#app/_ui/button.tsx';
import { ControlRow, Field } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import { Select } from '#app/_ui/select.tsx';
import { Switch } from '#app/_ui/switch.tsx';
import { environmentOf, switchesOf, textsOf, timeoutOf, withOption } from './script-options.ts';

type Values = Readonly<Record<string, unknown>>;

export interface OptionsFormProps {
  /** The type of the script. */
  type: string;
  options: Values;
  onOptions(options: Values): void;
}

/** The options of a script as fields. */
export function OptionsForm({ type, options, onOptions }: OptionsFormProps) {
  const { t } = useTranslation(['runbooks', 'common']);
  const set = (name: string, value: unknown, fallback?: unknown) =>
    onOptions(withOption(options, name, value, fallback));
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3 sm:grid-cols-2">
      <Timeout value={options.timeout} onChange={(timeout) => set('timeout', timeout)} />
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
      <Environment value={options.environment} onChange={(environment) => set('environment', environment)} />
    </div>
  );
}

/** The timeout. Text that is not a number stays in the field and does not change the option. */
function Timeout({ value, onChange }: { value: unknown; onChange(seconds: number | undefined): void }) {
  const { t } = useTranslation(['runbooks', 'common']);
  const [typed, setTyped] = useState(typeof value === 'number' ? String(value) : '');
  return (
    <Field
      label={t('runbooks:option.timeout')}
      note={t('common:optional')}
      hint={t('runbooks:option.timeout.hint')}
      error={timeoutOf(typed) === null ? t('runbooks:option.timeout.wrong') : undefined}
    >
      <Input
        inputMode="numeric"
        maxLength={7}
        value={typed}
        onChange={(event) => {
          const seconds = timeoutOf(event.target.value);
          setTyped(event.target.value);
          if (seconds !== null) onChange(seconds);
        }}
      />
    </Field>
  );
}

interface Row {
  id: number;
  name: string;
  value: string;
}

const rowsOf = (value: unknown): Row[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).map(([name, text], id) => ({ id, name, value: String(text) }))
    : [];

/** The environment variables of a script. */
function Environment({ value, onChange }: { value: unknown; onChange(value: Values | undefined): void }) {
  const { t } = useTranslation('runbooks');
  const [rows, setRows] = useState(() => rowsOf(value));
  const change = (next: Row[]) => {
    setRows(next);
    onChange(environmentOf(next));
  };
  const edit = (id: number, part: Partial<Row>) =>
    change(rows.map((row) => (row.id === id ? { ...row, ...part } : row)));
  return (
    <fieldset className="grid grid-cols-[minmax(0,1fr)] gap-2 sm:col-span-2">
      <legend className="mb-1.5 text-12 font-medium">{t('option.environment')}</legend>
      {rows.map(({ id, name, value: text }, index) => (
        <div key={id} className="flex items-center gap-2">
          <Input
            mono
            aria-label={t('option.variable', { n: index + 1 })}
            className="flex-1"
            value={name}
            onChange={(event) => edit(id, { name: event.target.value })}
          />
          <Input
            mono
            aria-label={t('option.variable.value', { n: index + 1 })}
            className="flex-[2]"
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
