'use client';

import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Field } from '#app/_ui/field.tsx';
import { Textarea } from '#app/_ui/input.tsx';
import type { SettingsObject } from '#app/_ui/schema-form/form.tsx';
import type { SettingsPatchProps } from './settings-patch-props.ts';

/** Public settings as a JSON merge patch, for versions whose schema a form cannot show. */
export function JsonPatch({ change, onChange, faults }: SettingsPatchProps) {
  const { t } = useTranslation('rollouts');
  const [text, setText] = useState(() =>
    Object.keys(change.settings).length === 0 ? '' : JSON.stringify(change.settings, null, 2),
  );
  const [isBroken, setBroken] = useState(false);
  const type = (typed: string) => {
    setText(typed);
    const settings = readObject(typed);
    setBroken(settings === null);
    if (settings !== null) onChange({ ...change, settings });
  };
  return (
    <Field
      label={t('new.public.json')}
      hint={t('new.public.jsonHint')}
      error={isBroken ? t('new.public.jsonBroken') : faults.below('/change/publicSettings')[0]?.message}
    >
      <Textarea mono rows={3} spellCheck={false} value={text} onChange={(event) => type(event.target.value)} />
    </Field>
  );
}

/** Parses a JSON object; null if the text is something else. Empty text is an empty object. */
function readObject(text: string): SettingsObject | null {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as SettingsObject) : null;
  } catch {
    return null;
  }
}
