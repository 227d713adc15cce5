'use client';

import { useEffect, useId, useRef, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Field } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import { FreeSecretField } from './secret-field.tsx';

export interface NewSettingProps {
  /** The name under which the draft has the setting; empty while the setting has no name. */
  name: string;
  taken(name: string): boolean;
  /** Called with an empty name and no value while the setting is not complete. */
  onChange(name: string, value: unknown): void;
}

/** Inputs for the name and the value of a protected setting that does not exist yet. */
export function NewSetting({ name, taken, onChange }: NewSettingProps) {
  const { t } = useTranslation('editor');
  const id = useId();
  const [typed, setTyped] = useState(name);
  const [value, setValue] = useState<unknown>(undefined);
  const field = useRef<HTMLDivElement>(null);
  useEffect(() => field.current?.querySelector('input')?.focus(), []);
  const change = (next: string, given: unknown) => {
    setTyped(next);
    setValue(given);
    const isComplete = next !== '' && !taken(next) && given !== undefined;
    onChange(isComplete ? next : '', isComplete ? given : undefined);
  };
  return (
    <div ref={field} className="grid gap-3.5 rounded-md p-3 shadow-hair-subtle">
      <Field id={id} label={t('protected.name')} error={taken(typed) ? t('protected.nameTaken') : undefined}>
        <Input
          mono
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          value={typed}
          onChange={(event) => change(event.target.value, value)}
        />
      </Field>
      <FreeSecretField
        name={typed}
        title={t('protected.value')}
        required={false}
        takesFocus={false}
        value={value}
        fault={undefined}
        onChange={(given) => change(typed, given)}
      />
    </div>
  );
}
