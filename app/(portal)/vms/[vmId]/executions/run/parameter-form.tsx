'use client';

import dynamic from 'next/dynamic';
import { useCallback, useMemo, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import type { ProblemFault } from '#app/_lib/problem.ts';
import { FieldError } from '#app/_ui/field.tsx';
import { planForm } from '#app/_ui/schema-form/bounded.ts';
import { SchemaForm } from '#app/_ui/schema-form/form.tsx';
import type { SettingPath } from '#app/_ui/schema-form/surroundings.ts';
import { Segmented } from '#app/_ui/segmented.tsx';
import { Skeleton } from '#app/_ui/skeleton.tsx';
import type { ShownRunbookVersion } from '#app/(portal)/runbooks/runbook-data.ts';
import { SecretField } from '#app/(portal)/vms/[vmId]/extensions/_editor/secret-field.tsx';
import { jsonPointer } from '#protocol/pointer.ts';
import { namesOf, partsOfSchema } from './parts-of-schema.ts';

type Values = Record<string, unknown>;
type View = 'form' | 'json';

const JsonEditor = dynamic(() => import('#app/_ui/json-editor.tsx').then((module) => module.JsonEditor), {
  ssr: false,
  loading: () => <Skeleton className="h-8 w-full" />,
});

export interface ParameterFormProps {
  version: Pick<ShownRunbookVersion, 'secretParameters'>;
  schema: Values;
  /** Null while the JSON is not valid. */
  values: Values | null;
  onValues(values: Values | null): void;
  secrets: Values;
  onSecrets(secrets: Values): void;
  /** The faults of the last request, with paths that begin with `/parameters` or `/secretParameters`. */
  faults: readonly ProblemFault[];
}

/** The parameters of a runbook, as a form that its schema defines or as JSON, and its secret parameters. */
export function ParameterForm({ version, schema, values, onValues, secrets, onSecrets, faults }: ParameterFormProps) {
  const parts = useMemo(() => partsOfSchema(schema, version.secretParameters), [schema, version.secretParameters]);
  return (
    <>
      {parts.hasPlain ? (
        <PlainParameters schema={parts.plain} values={values} onValues={onValues} faults={faults} />
      ) : null}
      {parts.secrets.length === 0 ? null : (
        <SecretParameters parts={parts.secrets} values={secrets} onValues={onSecrets} faults={faults} />
      )}
    </>
  );
}

type PlainParametersProps = Pick<ParameterFormProps, 'schema' | 'values' | 'onValues' | 'faults'>;

function PlainParameters({ schema, values, onValues, faults }: PlainParametersProps) {
  const { t } = useTranslation('runbooks');
  const plan = useMemo(() => planForm(schema), [schema]);
  const [view, setView] = useState<View>(plan === null ? 'json' : 'form');
  const at = useCallback(
    (path: SettingPath) => faults.find((fault) => fault.path === `/parameters${jsonPointer(path)}`)?.message,
    [faults],
  );
  const general = at([]);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
      {plan === null ? null : (
        <Segmented<View>
          label={t('run.view')}
          value={view}
          onChange={(next) => {
            if (values !== null || next === 'json') setView(next);
          }}
          options={[
            { value: 'form', label: t('run.view.form') },
            { value: 'json', label: <span translate="no">JSON</span> },
          ]}
          className="justify-self-start"
        />
      )}
      {plan !== null && view === 'form' ? (
        <SchemaForm
          plan={plan}
          value={values ?? {}}
          onChange={onValues}
          faultAt={at}
          wasAt={() => undefined}
          onEditJson={() => setView('json')}
        />
      ) : (
        <JsonParameters schema={schema} values={values} onValues={onValues} faults={faults} />
      )}
      {general === undefined ? null : <FieldError>{general}</FieldError>}
    </div>
  );
}

function JsonParameters({ schema, values, onValues, faults }: PlainParametersProps) {
  const { t } = useTranslation('runbooks');
  const [text, setText] = useState(() => JSON.stringify(values ?? {}, null, 2));
  const { required, optional } = useMemo(() => namesOf(schema), [schema]);
  const marks = useMemo(
    () => ({
      faults: faults
        .filter(({ path }) => path.startsWith('/parameters/'))
        .map(({ path, message }) => ({ pointer: path.slice('/parameters'.length), path, message })),
    }),
    [faults],
  );
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-1.5">
      <div className="overflow-hidden rounded-md shadow-hair">
        <JsonEditor
          value={text}
          onChange={(next) => {
            setText(next);
            onValues(objectOf(next));
          }}
          label={t('run.json')}
          marks={marks}
        />
      </div>
      {values === null ? <FieldError>{t('run.json.malformed')}</FieldError> : null}
      <Names label={t('run.json.required')} names={required} />
      <Names label={t('run.json.optional')} names={optional} />
    </div>
  );
}

/** The names of parameters that the JSON can contain. */
function Names({ label, names }: { label: string; names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <p className="flex flex-wrap items-baseline gap-x-2 gap-y-0.5 text-12 text-ink-3">
      {label}
      {names.map((name) => (
        <code key={name} translate="no" className="mono-11 wrap-anywhere text-ink-2">
          {name}
        </code>
      ))}
    </p>
  );
}

function objectOf(text: string): Values | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Values) : null;
  } catch {
    return null;
  }
}

interface SecretParametersProps {
  parts: ReturnType<typeof partsOfSchema>['secrets'];
  values: Values;
  onValues(values: Values): void;
  faults: readonly ProblemFault[];
}

function SecretParameters({ parts, values, onValues, faults }: SecretParametersProps) {
  const { t } = useTranslation('runbooks');
  const change = (name: string, value: unknown) => {
    const { [name]: _, ...others } = values;
    onValues(value === undefined ? others : { ...others, [name]: value });
  };
  return (
    <section aria-label={t('run.secrets')} className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <div className="flex flex-wrap items-baseline gap-x-2">
        <h3 className="text-13 font-semibold">{t('run.secrets')}</h3>
        <span className="text-12 text-ink-3">{t('run.secrets.note')}</span>
      </div>
      {parts.map(({ name, title, isRequired, schema }) => (
        <SecretField
          key={name}
          name={name}
          title={title}
          schema={schema}
          required={isRequired}
          value={values[name]}
          onChange={(value) => change(name, value)}
          fault={faults.find(({ path }) => path === `/secretParameters${jsonPointer([name])}`)?.message}
          takesFocus={false}
          hint={t('run.secrets.hint')}
        />
      ))}
    </section>
  );
}
