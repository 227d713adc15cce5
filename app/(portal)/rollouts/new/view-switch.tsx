'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Segmented } from '#app/_ui/segmented.tsx';
import type { EditedDefinition } from './use-definition.ts';

/** Switches between the form and the JSON of a definition. */
export function ViewSwitch({ editing: { json, openJson, closeJson } }: { editing: EditedDefinition }) {
  const { t } = useTranslation('rollouts');
  return (
    <Segmented
      label={t('new.view')}
      value={json === null ? 'form' : 'json'}
      onChange={(view) => (view === 'json' ? openJson() : closeJson())}
      options={[
        { value: 'form', label: t('new.view.form') },
        { value: 'json', label: <span translate="no">JSON</span> },
      ]}
    />
  );
}
