'use client';

import dynamic from 'next/dynamic';
import { useMemo, useRef } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import type { JsonEditorHandle } from '#app/_ui/json-editor.tsx';
import { jsonHeight } from '#app/_ui/json-height.ts';
import { Skeleton } from '#app/_ui/skeleton.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import type { FormFaults } from './faults.ts';
import type { JsonDraft } from './json-mode.ts';
import { PartCard } from './part-card.tsx';

const JsonEditor = dynamic(() => import('#app/_ui/json-editor.tsx').then((module) => module.JsonEditor), {
  ssr: false,
  loading: () => <Skeleton className="w-40" />,
});

export interface DefinitionJsonProps {
  draft: JsonDraft;
  faults: FormFaults;
  /** Whether the change has protected settings that the text does not show. */
  hasSecrets: boolean;
  onText(text: string): void;
}

/** The definition as JSON. Each fault is below its line and in a list with its path, which leads to the line. */
export function JsonCard({ draft: { text, sent, form }, faults: { all }, hasSecrets, onText }: DefinitionJsonProps) {
  const { t } = useTranslation('rollouts');
  const editor = useRef<JsonEditorHandle>(null);
  const marks = useMemo(() => ({ faults: all.map(({ path, message }) => ({ pointer: path, path, message })) }), [all]);
  return (
    <PartCard part="json" title={t('new.json')} note={t('new.json.note')}>
      <div className="-mx-4 border-y border-line-subtle" style={{ minHeight: jsonHeight(text) }}>
        <JsonEditor
          ref={editor}
          value={text}
          onChange={onText}
          label={t('new.json')}
          describedBy="json-keys"
          marks={marks}
        />
      </div>
      <p id="json-keys" className="text-12 text-ink-3">
        {t('new.json.keys')} {hasSecrets ? t('new.json.secrets') : null}
      </p>
      <ul aria-live="polite" className="grid gap-1 empty:hidden">
        {sent === null ? (
          <li className="flex gap-1.5 text-failed-text">
            <StatusIcon status="failed" className="mt-[3px]" />
            {t('new.json.broken')}
          </li>
        ) : form === null && all.length === 0 ? (
          <li className="text-ink-2">{t('new.json.noForm')}</li>
        ) : null}
        {all.map(({ path, code, message }) => (
          <li key={path + code} className="flex min-w-0 gap-1.5">
            <StatusIcon status="failed" className="mt-[3px]" />
            <span className="min-w-0 wrap-anywhere">
              <button
                type="button"
                translate="no"
                onClick={() => editor.current?.goTo({ pointer: path })}
                className="mono rounded-xs text-12 underline underline-offset-3"
              >
                {path === '' ? '/' : path}
              </button>{' '}
              {message}
            </span>
          </li>
        ))}
      </ul>
    </PartCard>
  );
}
