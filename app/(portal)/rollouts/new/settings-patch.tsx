'use client';

import { useQuery } from '@tanstack/react-query';
import dynamic from 'next/dynamic';
import { useCallback, useMemo } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Button } from '#app/_ui/button.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import type { SettingPath } from '#app/_ui/schema-form/surroundings.ts';
import { Theirs } from '#app/_ui/schema-form/theirs.tsx';
import { Skeleton } from '#app/_ui/skeleton.tsx';
import { jsonPointer } from '#protocol/pointer.ts';
import { type UsedSchema, useSchema } from '../../vms/[vmId]/extensions/_editor/use-schema.ts';
import { JsonPatch } from './json-patch.tsx';
import { ProtectedPatch } from './protected-patch.tsx';
import type { ChangeForm } from './rollout-form.ts';
import type { SettingsPatchProps } from './settings-patch-props.ts';

const SchemaForm = dynamic(() => import('#app/_ui/schema-form/form.tsx').then((module) => module.SchemaForm), {
  ssr: false,
  loading: () => <Skeleton className="h-8 w-full" />,
});

/** Used if the page was loaded without a handler. */
const none = { version: '', schema: undefined as never, words: {} };

/** The public and protected settings that the change sets, by the schema of the version or of the newest one. */
export function SettingsPatch({ change, onChange, faults, loaded }: SettingsPatchProps) {
  const { t } = useTranslation('rollouts');
  const trpc = useTRPC();
  const handler = useQuery({
    ...trpc.handlers.get.queryOptions({ handler: change.handler }),
    enabled: change.version === '',
  });
  const first = loaded?.handler === change.handler ? loaded : none;
  const newest = handler.data?.versions.find(({ state }) => state === 'published')?.version ?? first.version;
  const used = useSchema(change.handler, change.version === '' ? newest : change.version, first);
  const parts = { change, onChange, faults, loaded };
  return (
    <>
      <Heading title={t('new.public')} note={t(change.replaces ? 'new.public.replaced' : 'new.public.merged')} />
      {used.error ? (
        <QueryError error={used.error} onRetry={used.retry} />
      ) : used.schema === undefined ? (
        <Skeleton className="h-20 w-full" />
      ) : used.plan === null ? (
        <JsonPatch {...parts} />
      ) : (
        <PublicPatch plan={used.plan} {...parts} />
      )}
      <Heading title={t('new.protected')} note={t('new.protected.note')} />
      <ProtectedPatch form={used.protectedForm} {...parts} />
    </>
  );
}

function Heading({ title, note }: { title: string; note: string }) {
  return (
    <div className="-mx-4 flex flex-wrap items-baseline gap-x-2 border-t border-line-subtle px-4 pt-3">
      <h3 className="text-13 font-semibold">{title}</h3>
      <span className="text-12 text-ink-3">{note}</span>
    </div>
  );
}

const root = '/change/publicSettings';

/** One row for each setting: what the change sets is a field, everything else stays. */
function PublicPatch({
  plan,
  change,
  onChange,
  faults,
}: SettingsPatchProps & { plan: NonNullable<UsedSchema['plan']> }) {
  const { settings } = change;
  const properties = plan.schema.properties ?? {};
  const put = (next: ChangeForm['settings']) => onChange({ ...change, settings: next });
  const without = (name: string) => Object.fromEntries(Object.entries(settings).filter(([other]) => other !== name));
  const faultAt = useCallback(
    (path: SettingPath) => {
      const pointer = jsonPointer(path);
      return faults.at(`${root}${pointer}`) ?? faults.at(`${root}/${change.replaces ? 'replace' : 'merge'}${pointer}`);
    },
    [faults, change.replaces],
  );
  return (
    <div className="grid gap-2.5">
      {Object.entries(properties).map(([name, schema]) => (
        <SettingRow
          key={name}
          name={name}
          title={typeof schema === 'object' ? schema.title : undefined}
          state={!Object.hasOwn(settings, name) ? 'kept' : settings[name] === null ? 'removed' : 'set'}
          onSet={() => put({ ...settings, [name]: initialOf(schema) })}
          onRemove={() => put({ ...settings, [name]: null })}
          onReset={() => put(without(name))}
        >
          <OneSetting plan={plan} name={name} value={settings} onChange={put} faultAt={faultAt} />
        </SettingRow>
      ))}
      {faults
        .below(root)
        .filter(({ path }) => path === root || path === `${root}/merge` || path === `${root}/replace`)
        .map(({ path, code, message }) => (
          <FieldError key={path + code}>{message}</FieldError>
        ))}
    </div>
  );
}

/** The value that a setting starts with: the publisher's default, otherwise an empty value of its type. */
function initialOf(schema: unknown): unknown {
  const { type, ...rest } = (typeof schema === 'object' && schema !== null ? schema : {}) as Record<string, unknown>;
  if (rest['x-default'] !== undefined) return rest['x-default'];
  const choices = rest['x-choices'];
  if (Array.isArray(choices)) return choices[0]?.value;
  if (type === 'boolean') return true;
  if (type === 'array') return [];
  if (type === 'object') return {};
  return type === 'string' ? '' : 0;
}

interface SettingRowProps {
  name: string;
  title: string | undefined;
  state: 'kept' | 'set' | 'removed';
  onSet(): void;
  onRemove(): void;
  onReset(): void;
  children: React.ReactNode;
}

function SettingRow({ name, title, state, onSet, onRemove, onReset, children }: SettingRowProps) {
  const { t } = useTranslation('rollouts');
  return (
    <div className="grid items-start gap-x-3 gap-y-1 sm:grid-cols-[minmax(0,1fr)_auto]">
      {state === 'set' ? (
        children
      ) : (
        <div className="flex min-h-7 flex-wrap items-center gap-x-2">
          <span className="font-medium">{title === undefined ? null : <Theirs>{title}</Theirs>}</span>
          <span translate="no" className="mono text-12 text-ink-3">
            {name}
          </span>
          <span className="text-ink-2 sm:ms-auto">{t(state === 'kept' ? 'new.asItIs' : 'new.setting.removed')}</span>
        </div>
      )}
      <span className="flex gap-1">
        {state === 'kept' ? (
          <>
            <Button size="sm" variant="ghost" aria-label={t('new.setting.setOf', { name })} onClick={onSet}>
              {t('new.setting.set')}
            </Button>
            <Button size="sm" variant="ghost" aria-label={t('new.setting.removeOf', { name })} onClick={onRemove}>
              {t('new.setting.remove')}
            </Button>
          </>
        ) : (
          <Button size="sm" variant="ghost" aria-label={t('new.setting.resetOf', { name })} onClick={onReset}>
            {t('new.setting.reset')}
          </Button>
        )}
      </span>
    </div>
  );
}

interface OneSettingProps {
  plan: NonNullable<UsedSchema['plan']>;
  name: string;
  value: ChangeForm['settings'];
  onChange(value: ChangeForm['settings']): void;
  faultAt(path: SettingPath): string | undefined;
}

/** The publisher's form, reduced to one setting. */
function OneSetting({ plan, name, value, onChange, faultAt }: OneSettingProps) {
  const one = useMemo(
    () => ({
      schema: { ...plan.schema, required: [], properties: { [name]: plan.schema.properties?.[name] ?? {} } },
      uiSchema: { [name]: plan.uiSchema[name] },
    }),
    [plan, name],
  );
  const own = useMemo(() => ({ [name]: value[name] }), [value, name]);
  return (
    <SchemaForm
      plan={one}
      value={own}
      onChange={(next) => onChange({ ...value, [name]: next[name] })}
      faultAt={faultAt}
      wasAt={() => undefined}
      onEditJson={() => undefined}
    />
  );
}
