'use client';

import { type ReactNode, useCallback } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { Banner } from '#app/_ui/banner.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import type { SettingsObject } from '#app/_ui/schema-form/form.tsx';
import { SchemaForm } from '#app/_ui/schema-form/form.tsx';
import type { SettingPath } from '#app/_ui/schema-form/surroundings.ts';
import { Skeleton } from '#app/_ui/skeleton.tsx';
import type { Dependent } from '#protocol/dependencies.ts';
import { jsonPointer } from '#protocol/pointer.ts';
import { shown } from './changes.ts';
import { DeclarationFields } from './declaration-fields.tsx';
import { ProtectedSettings } from './protected-settings.tsx';
import type { Editing } from './use-editing.ts';
import type { Faults } from './use-faults.ts';

export interface SettingsCardProps {
  editing: Editing;
  versions: readonly { version: string; state: string }[];
  others: readonly Dependent[];
  faults: Faults;
  onSettings(settings: SettingsObject): void;
  onActive(pointer: string): void;
  onEditJson(pointer: string): void;
}

/** The form: the declaration, the public settings according to the publisher's schema, and the protected settings. */
export function SettingsCard({ editing, versions, others, faults, ...props }: SettingsCardProps) {
  const { draft, isNew, base, used } = editing;
  const start = isNew ? null : editing.start;
  const { t } = useTranslation('editor');
  return (
    <Card>
      <CardHeader title={t('settings.title')} note={used.plan === null ? undefined : t('settings.fromSchema')} />
      <div className="grid grid-cols-[minmax(0,1fr)] gap-3.5 px-4 pb-5">
        <DeclarationFields
          draft={draft}
          onChange={editing.setDraft}
          isNew={isNew}
          versions={versions}
          running={
            base.extension !== null && base.extension.version !== draft.version && draft.version === start?.version
              ? base.extension.version
              : undefined
          }
          others={others}
          siblings={editing.siblings}
          takesSiblings={editing.takesSiblings}
          onTakesSiblings={editing.setTakesSiblings}
          faults={faults}
        />
        <Heading title={t('public')} name="publicSettings" />
        <PublicSettings editing={editing} faults={faults} {...props} />
        <Heading title={t('protected')} name="protectedSettings" note={t('protected.note')} />
        <ProtectedSection editing={editing} faults={faults} onActive={props.onActive} />
      </div>
    </Card>
  );
}

type PublicSettingsProps = Omit<SettingsCardProps, 'versions' | 'others'>;

function PublicSettings({ editing, faults, onSettings, onActive, onEditJson }: PublicSettingsProps) {
  const { t } = useTranslation('editor');
  const { draft, used } = editing;
  const { publicAt } = faults;
  const faultAt = useCallback((path: SettingPath) => publicAt(jsonPointer(path)), [publicAt]);
  const wasAt = useWasAt(editing);
  const editJson = useCallback((path: SettingPath) => onEditJson(jsonPointer(path)), [onEditJson]);
  if (used.error) return <QueryError error={used.error} onRetry={used.retry} />;
  if (used.schema === undefined) return <FieldSkeletons />;
  if (used.plan === null) {
    return <p className="text-ink-2">{t(used.schema === null ? 'settings.noSchema' : 'settings.noForm')}</p>;
  }
  const general = publicAt('');
  return (
    <>
      {draft.unread === null ? null : (
        <Banner status="warning" boxed>
          {t(draft.unread === 'malformed' ? 'settings.jsonBroken' : `json.${draft.unread}`)}
        </Banner>
      )}
      <SchemaForm
        plan={used.plan}
        value={draft.settings}
        onChange={onSettings}
        onActive={onActive}
        disabled={draft.unread !== null}
        faultAt={faultAt}
        wasAt={wasAt}
        onEditJson={editJson}
      />
      {general === undefined || draft.unread !== null ? null : <p className="text-12 text-failed-text">{general}</p>}
    </>
  );
}

/** Returns a function that looks up the stored value of a setting, as text, if the draft's value differs. */
function useWasAt({ isNew, start, draft }: Editing): (path: SettingPath) => string | undefined {
  const before = isNew ? undefined : start.settings;
  const { settings } = draft;
  return useCallback(
    (path: SettingPath) => {
      if (before === undefined) return undefined;
      const was = valueAt(before, path);
      if (was === undefined || JSON.stringify(was) === JSON.stringify(valueAt(settings, path))) return undefined;
      return shown(was);
    },
    [before, settings],
  );
}

function ProtectedSection({ editing, faults, onActive }: Pick<SettingsCardProps, 'editing' | 'faults' | 'onActive'>) {
  const { protectedForm, schema } = editing.used;
  const isWhole = protectedForm.kind === 'json' && editing.secrets.mode === 'replace';
  const watch = (event: { type: string; target: EventTarget & Element }) =>
    onActive(event.type === 'focus' ? (event.target.closest('[data-at]')?.getAttribute('data-at') ?? '') : '');
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: listens to the fields inside, but is not interactive
    <div onFocus={watch} onBlur={watch}>
      {schema === undefined ? (
        <FieldSkeletons />
      ) : (
        <ProtectedSettings
          form={protectedForm}
          present={editing.base.extension?.protectedSettings ?? null}
          value={editing.secrets}
          onChange={editing.setSecrets}
          mustReplace={editing.mustReplace}
          faultAt={isWhole ? () => faults.anyProtected : faults.protectedAt}
        />
      )}
    </div>
  );
}

function Heading({ title, name, note }: { title: string; name: string; note?: ReactNode }) {
  return (
    <div className="-mx-4 mt-1 flex flex-wrap items-baseline gap-x-2 border-t border-line-subtle px-4 pt-3.5">
      <h3 className="text-13 font-semibold">{title}</h3>
      <span translate="no" className="mono text-ink-3">
        {name}
      </span>
      {note === undefined ? null : <span className="ms-auto text-12 text-ink-3">{note}</span>}
    </div>
  );
}

function FieldSkeletons() {
  return (
    <div className="grid min-h-28 content-start gap-3">
      {['w-24', 'w-32', 'w-20'].map((width) => (
        <div key={width} className="grid gap-2">
          <Skeleton className={width} />
          <Skeleton className="h-8 w-full" />
        </div>
      ))}
    </div>
  );
}

function valueAt(settings: SettingsObject, path: SettingPath): unknown {
  let value: unknown = settings;
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<string | number, unknown>)[part];
  }
  return value;
}
