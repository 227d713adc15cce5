'use client';

import { useQuery } from '@tanstack/react-query';
import dynamic from 'next/dynamic';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { ControlRow, Field } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import { Segmented } from '#app/_ui/segmented.tsx';
import { Select } from '#app/_ui/select.tsx';
import { Switch } from '#app/_ui/switch.tsx';
import { changeKinds } from './definition.ts';
import { PartCard } from './part-card.tsx';
import { type ChangeForm, withHandler } from './rollout-form.ts';
import type { SettingsPatchProps } from './settings-patch-props.ts';

// Rendered by the server; its script follows the page's.
const SettingsPatch = dynamic(() => import('./settings-patch.tsx').then((module) => module.SettingsPatch));

const RunFields = dynamic(() => import('./run-fields.tsx').then((module) => module.RunFields));

type FieldsProps = Omit<SettingsPatchProps, 'loaded'>;

/** Faults at these fields are shown there. */
const ownFields =
  /^\/change\/(handler|extension|version|state|publicSettings|protectedSettings|runbook|parameters|secretParameters)(\/|$)/;

/** What: the change as a patch. What is not set stays as each VM has it. */
export function WhatCard({ change, onChange, faults, loaded }: SettingsPatchProps) {
  const { t } = useTranslation('rollouts');
  return (
    <PartCard
      part="what"
      title={t('new.what')}
      note={change.kind === 'set' ? t('new.what.note') : undefined}
      faults={faults.below('/change').filter(({ path }) => !ownFields.test(path))}
      actions={
        <Segmented
          label={t('new.what.kind')}
          className="max-w-full flex-wrap"
          value={change.kind}
          onChange={(kind) => onChange({ ...change, kind })}
          options={changeKinds.map((kind) => ({ value: kind, label: t(`new.kind.${kind}`) }))}
        />
      }
    >
      <ChangeFields change={change} onChange={onChange} faults={faults} loaded={loaded} />
    </PartCard>
  );
}

export interface ChangeFieldsProps extends SettingsPatchProps {
  /** Whether the kind of change is decided, so that only handler and extension can be chosen. */
  isSimple?: boolean;
}

/** The fields of a change: handler and extension, and for `set` what to declare. */
export function ChangeFields({ change, onChange, faults, loaded, isSimple = false }: ChangeFieldsProps) {
  const { t } = useTranslation('rollouts');
  if (change.kind === 'run') return <RunFields change={change} onChange={onChange} faults={faults} />;
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-2">
        <HandlerField change={change} onChange={onChange} faults={faults} />
        <Field label={t('new.extension')} hint={t('new.extension.hint')} error={faults.at('/change/extension')}>
          <Input
            mono
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            maxLength={64}
            value={change.extension}
            placeholder={t('new.extension.every')}
            onChange={(event) => onChange({ ...change, extension: event.target.value })}
          />
        </Field>
        {change.kind === 'set' && !isSimple ? <SetFields change={change} onChange={onChange} faults={faults} /> : null}
      </div>
      {isSimple ? null : change.kind === 'set' ? (
        <>
          {change.handler === '' ? null : (
            <SettingsPatch key={change.handler} change={change} onChange={onChange} faults={faults} loaded={loaded} />
          )}
          <Options change={change} onChange={onChange} />
        </>
      ) : (
        <p className="text-ink-2">{t(`new.kind.${change.kind}.why`)}</p>
      )}
    </>
  );
}

function HandlerField({ change, onChange, faults }: FieldsProps) {
  const { t } = useTranslation('rollouts');
  const trpc = useTRPC();
  const explain = useProblem();
  const handlers = useQuery(trpc.handlers.list.queryOptions({ kind: 'handler', q: '', limit: 200 }));
  const names = handlers.data?.items.filter(({ latestVersion }) => latestVersion !== null) ?? [];
  const known = [...new Set([change.handler, ...names.map(({ handler }) => handler)])].filter(Boolean);
  return (
    <Field
      label={t('new.handler')}
      hint={handlers.isSuccess && known.length === 0 ? t('new.handler.none') : undefined}
      error={faults.at('/change/handler') ?? (handlers.error === null ? undefined : explain(handlers.error).message)}
    >
      <Select
        mono={change.handler !== ''}
        value={change.handler}
        onChange={(event) => onChange(withHandler(change, event.target.value))}
        options={[
          { value: '', label: t('new.handler.choose') },
          ...known.sort().map((handler) => ({ value: handler, label: handler, isName: true })),
        ]}
      />
    </Field>
  );
}

function SetFields({ change, onChange, faults }: FieldsProps) {
  const { t } = useTranslation('rollouts');
  const trpc = useTRPC();
  const handler = useQuery({
    ...trpc.handlers.get.queryOptions({ handler: change.handler }),
    enabled: change.handler !== '',
  });
  const published = (handler.data?.versions ?? []).filter(({ state }) => state === 'published');
  const versions = [...new Set([...published.map(({ version }) => version), change.version])].filter(Boolean);
  const asItIs = { value: '', label: t('new.asItIs') };
  return (
    <>
      <Field label={t('new.version')} error={faults.at('/change/version')}>
        <Select
          mono={change.version !== ''}
          value={change.version}
          onChange={(event) => onChange({ ...change, version: event.target.value })}
          options={[asItIs, ...versions.map((version) => ({ value: version, label: version }))]}
        />
      </Field>
      <Field label={t('new.state')} error={faults.at('/change/state')}>
        <Select
          value={change.state}
          onChange={(event) => onChange({ ...change, state: event.target.value as ChangeForm['state'] })}
          options={[
            asItIs,
            { value: 'enabled', label: t('new.state.enabled') },
            { value: 'disabled', label: t('new.state.disabled') },
          ]}
        />
      </Field>
    </>
  );
}

function Options({ change, onChange }: Pick<FieldsProps, 'change' | 'onChange'>) {
  const { t } = useTranslation('rollouts');
  return (
    <div className="flex flex-wrap gap-x-5 gap-y-2">
      <ControlRow
        control={
          <Switch
            checked={change.onAbsent === 'install'}
            onCheckedChange={(checked) => onChange({ ...change, onAbsent: checked ? 'install' : 'skip' })}
          />
        }
      >
        {t('new.install')}
      </ControlRow>
      <ControlRow
        control={
          <Switch
            checked={change.allowLower}
            onCheckedChange={(checked) => onChange({ ...change, allowLower: checked })}
          />
        }
      >
        {t('new.allowLower')}
      </ControlRow>
    </div>
  );
}
