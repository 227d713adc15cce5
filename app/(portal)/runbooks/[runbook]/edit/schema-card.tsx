'use client';

import { type Ref, useMemo, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import type { ProblemFault } from '#app/_lib/problem.ts';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import { JsonEditor, type JsonEditorHandle } from '#app/_ui/json-editor.tsx';
import { presetsOf } from '#app/(portal)/runbooks/parameters.ts';
import { jsonObjectIn } from '#app/(portal)/vms/[vmId]/executions/json-object.ts';
import { ParameterForm } from '#app/(portal)/vms/[vmId]/executions/run/parameter-form.tsx';

type Values = Record<string, unknown>;

export interface ParameterSchemaCardProps {
  editor: Ref<JsonEditorHandle>;
  text: string;
  onText(text: string): void;
  /** The faults of the schema, with paths in the schema. */
  faults: readonly ProblemFault[];
}

/** The schema of the parameters, and a preview of the form that people will fill in. */
export function SchemaCard({ editor, text, onText, faults }: ParameterSchemaCardProps) {
  const { t } = useTranslation('runbooks');
  const schema = useMemo(() => jsonObjectIn(text), [text]);
  const marks = useMemo(
    () => ({
      // The sentence about text that is not JSON is below the editor.
      faults: schema === undefined ? [] : faults.map(({ path, message }) => ({ pointer: path, path, message })),
    }),
    [schema, faults],
  );
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 xl:grid-cols-2">
      <Card>
        <CardHeader title={t('edit.schema')} note={t('edit.schema.note')} />
        <JsonEditor ref={editor} value={text} onChange={onText} label={t('edit.schema')} marks={marks} />
        <div className="grid gap-1 border-t border-line-subtle px-4 py-2 text-12 text-ink-3">
          <p>{t('edit.schema.hint')}</p>
          {schema === undefined ? <FieldError>{t('edit.schema.malformed')}</FieldError> : null}
        </div>
      </Card>
      <Card>
        <CardHeader title={t('edit.preview')} note={t('edit.preview.note')} />
        <CardBody>
          {schema === undefined ? (
            <p className="text-ink-2">{t('edit.preview.none')}</p>
          ) : schema === null ? (
            <p className="text-ink-2">{t('parameters.none')}</p>
          ) : (
            <Preview key={text} schema={schema} />
          )}
        </CardBody>
      </Card>
    </div>
  );
}

function Preview({ schema }: { schema: Values }) {
  const secretParameters = useMemo(() => secretsIn(schema), [schema]);
  const [values, setValues] = useState<Values | null>(() =>
    presetsOf({ parameters: schema, plan: null, secretParameters }),
  );
  const [secrets, setSecrets] = useState<Values>({});
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <ParameterForm
        version={{ secretParameters }}
        schema={schema}
        values={values}
        onValues={setValues}
        secrets={secrets}
        onSecrets={setSecrets}
        faults={[]}
      />
    </div>
  );
}

const secretsIn = ({ properties }: Values): string[] =>
  Object.entries((properties ?? {}) as Values)
    .filter(([, part]) => typeof part === 'object' && part !== null && Reflect.get(part, 'writeOnly') === true)
    .map(([name]) => name);
