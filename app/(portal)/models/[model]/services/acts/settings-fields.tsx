'use client';

import { type ReactNode, useCallback, useMemo, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { type ExplainedProblem, faultAt as faultIn } from '#app/_lib/problem.ts';
import { QueryError } from '#app/_lib/query-error.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import type { JsonPlace } from '#app/_ui/json-editor.tsx';
import { jsonHeight } from '#app/_ui/json-height.ts';
import { LazyJsonEditor } from '#app/_ui/lazy-json-editor.tsx';
import { SchemaForm, type SettingsObject } from '#app/_ui/schema-form/form.tsx';
import type { SettingPath } from '#app/_ui/schema-form/surroundings.ts';
import { Segmented } from '#app/_ui/segmented.tsx';
import { Skeleton } from '#app/_ui/skeleton.tsx';
import { useSchema } from '#app/(portal)/vms/[vmId]/extensions/_editor/use-schema.ts';
import { jsonPointer } from '#protocol/pointer.ts';
import { ProtectedPart, type StoredProtected } from './protected-part.tsx';
import { type SettingsDraft, withFormSettings, withJsonText } from './settings-draft.ts';

export interface SettingsFieldsProps {
  formula: string;
  version: string;
  draft: SettingsDraft;
  onChange(draft: SettingsDraft): void;
  /** The settings before the change; undefined for a new service. */
  before?: SettingsObject;
  /** The stored protected settings, whose values are never shown; null if there are none. */
  stored: StoredProtected | null;
  problem: ExplainedProblem | undefined;
}

type View = 'form' | 'json';

/** Edits the settings of a service: as a form built from the options of its formula, or as JSON. */
export function SettingsFields({ formula, version, draft, onChange, before, stored, problem }: SettingsFieldsProps) {
  const { t } = useTranslation(['services', 'editor']);
  const used = useSchema(formula, version, nothingLoaded);
  const [view, setView] = useState<View>('form');
  const [place, setPlace] = useState<JsonPlace>();
  const hasForm = used.plan !== null;
  const faultAt = useCallback((path: SettingPath) => faultIn(problem, `/settings${jsonPointer(path)}`), [problem]);
  const wasAt = useWasAt(before, draft.settings);
  const editJson = useCallback((path: SettingPath) => {
    setPlace({ pointer: jsonPointer(path) });
    setView('json');
  }, []);
  if (used.error)
    return <QueryError title={t('services:settings.optionsFailed')} error={used.error} onRetry={used.retry} />;
  if (used.schema === undefined) return <Skeleton className="h-24 w-full" />;
  const isJson = view === 'json' || !hasForm;
  const general = faultIn(problem, '/settings');
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3.5">
      <div className="flex flex-wrap items-center gap-2">
        <h3 className="text-13 font-semibold">{t('editor:settings.title')}</h3>
        {hasForm ? (
          <span className="ms-auto">
            <Segmented<View>
              label={t('services:settings.view')}
              value={view}
              onChange={setView}
              options={[
                { value: 'form', label: t('services:settings.form') },
                { value: 'json', label: t('editor:json.title') },
              ]}
            />
          </span>
        ) : null}
      </div>
      {isJson ? (
        <Json draft={draft} onChange={onChange} problem={problem} place={place}>
          {hasForm ? null : (
            <p className="text-12 text-ink-3">
              {t(used.schema === null ? 'services:settings.noSchema' : 'editor:settings.noForm')}
            </p>
          )}
        </Json>
      ) : used.plan === null ? null : (
        <SchemaForm
          plan={used.plan}
          value={draft.settings}
          onChange={(settings) => onChange(withFormSettings(draft, settings))}
          disabled={draft.unread !== null}
          faultAt={faultAt}
          wasAt={wasAt}
          onEditJson={editJson}
        />
      )}
      {general === undefined ? null : <FieldError>{general}</FieldError>}
      <ProtectedPart
        form={used.protectedForm}
        stored={stored}
        value={draft.secrets}
        onChange={(secrets) => onChange({ ...draft, secrets })}
        problem={problem}
      />
    </div>
  );
}

/** The page does not contain the schema of any version, so each is loaded. */
const nothingLoaded = { version: '', schema: null, words: {} };

interface JsonProps extends Pick<SettingsFieldsProps, 'draft' | 'onChange' | 'problem'> {
  place: JsonPlace | undefined;
  children: ReactNode;
}

function Json({ draft, onChange, problem, place, children }: JsonProps) {
  const { t } = useTranslation('editor');
  const marks = useMemo(
    () => ({
      faults: (problem?.faults ?? [])
        .filter(({ path }) => path.startsWith('/settings/'))
        .map(({ path, message }) => {
          const pointer = path.slice('/settings'.length);
          return { pointer, path: pointer, message };
        }),
    }),
    [problem],
  );
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-1.5">
      {children}
      <div className="rounded-md shadow-field" style={{ minHeight: jsonHeight(draft.text) }}>
        <LazyJsonEditor
          value={draft.text}
          onChange={(text) => onChange(withJsonText(draft, text))}
          label={t('json.label')}
          marks={marks}
          startAt={place}
        />
      </div>
      <div aria-live="polite" className="empty:hidden">
        {draft.unread === null ? null : <FieldError>{t(`json.${draft.unread}`)}</FieldError>}
      </div>
    </div>
  );
}

/** Returns a function that looks up the value of a setting before the change, as text, if it differs. */
function useWasAt(before: SettingsObject | undefined, settings: SettingsObject) {
  return useCallback(
    (path: SettingPath) => {
      const [was, is] = [valueAt(before, path), valueAt(settings, path)].map((value) => JSON.stringify(value));
      return was === undefined || was === is ? undefined : was;
    },
    [before, settings],
  );
}

function valueAt(settings: unknown, path: SettingPath): unknown {
  return path.reduce<unknown>(
    (value, part) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, part)
        ? (value as Record<string | number, unknown>)[part]
        : undefined,
    settings,
  );
}
