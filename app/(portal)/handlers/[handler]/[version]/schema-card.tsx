'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { CodeBlock } from '#app/_ui/code-block.tsx';
import { Field, FieldError } from '#app/_ui/field.tsx';
import { Textarea } from '#app/_ui/input.tsx';
import { toast } from '#app/_ui/toast.tsx';
import { FileButton } from '../../file-button.tsx';
import { useFileDrop } from '../../use-file-drop.ts';

export interface SchemaCardProps {
  handler: string;
  version: string;
  schema: unknown;
  /** The version from which the schema was carried over; null if it was not carried over. */
  carriedFrom: string | null;
  mayEdit: boolean;
  isDraft: boolean;
  onUnsaved(unsaved: boolean): void;
}

/**
 * The settings schema. Publishers can type, paste or drop a schema for a draft. After publishing, the schema is
 * read-only.
 */
export function SchemaCard({ schema, carriedFrom, mayEdit, isDraft, onUnsaved, ...reference }: SchemaCardProps) {
  const { t } = useTranslation('packages');
  const text = schema === null || schema === undefined ? '' : JSON.stringify(schema, null, 2);
  if (mayEdit) return <SchemaEditor key={text} saved={text} {...{ carriedFrom, onUnsaved }} {...reference} />;
  return (
    <Card id="schema">
      <CardHeader
        title={t('schema.title')}
        note={
          carriedFrom === null
            ? isDraft
              ? undefined
              : t('schema.fixed')
            : t('schema.carried', { version: carriedFrom })
        }
      />
      <CardBody>
        {text === '' ? (
          <p className="text-ink-2">{t('schema.none')}</p>
        ) : (
          <CodeBlock code={text} label={t('schema.title')} language="json" className="max-h-96" />
        )}
      </CardBody>
    </Card>
  );
}

interface SchemaEditorProps extends Pick<SchemaCardProps, 'handler' | 'version' | 'carriedFrom' | 'onUnsaved'> {
  saved: string;
}

function SchemaEditor({ handler, version, carriedFrom, saved, onUnsaved }: SchemaEditorProps) {
  const { t } = useTranslation('packages');
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const [text, setText] = useState(saved);
  const [malformed, setMalformed] = useState<string>();
  const unsaved = text !== saved;
  useEffect(() => {
    onUnsaved(unsaved);
    return () => onUnsaved(false);
  }, [unsaved, onUnsaved]);
  const save = useMutation(
    trpc.packages.setSettingsSchema.mutationOptions({
      onSuccess: async () => {
        toast(t('schema.done'));
        await queryClient.invalidateQueries(trpc.packages.pathFilter());
      },
    }),
  );
  const problem = save.error ? explain(save.error) : undefined;
  const submit = () => {
    try {
      const schema: unknown = JSON.parse(text);
      setMalformed(undefined);
      save.mutate({ handler, version, schema });
    } catch (error) {
      setMalformed(error instanceof Error ? error.message : String(error));
    }
  };
  const take = (files: readonly File[]) => void files[0]?.text().then(setText);
  const [over, dropProps] = useFileDrop(take);
  return (
    <Card id="schema" {...dropProps} className={over ? 'shadow-focus' : undefined}>
      <CardHeader
        title={t('schema.title')}
        note={carriedFrom === null ? t('schema.note') : t('schema.carried', { version: carriedFrom })}
        actions={<FileButton accept=".json,application/json" label={t('schema.choose')} onFiles={take} />}
      />
      <CardBody className="grid gap-3">
        <Field
          label={<span className="sr-only">{t('schema.title')}</span>}
          hint={t('schema.hint')}
          error={malformed === undefined ? undefined : t('schema.malformed', { reason: malformed })}
        >
          <Textarea
            mono
            rows={5}
            spellCheck={false}
            value={text}
            onChange={(event) => setText(event.target.value)}
            className="max-h-96 overflow-auto"
          />
        </Field>
        {problem ? (
          <div role="alert" className="grid gap-1">
            <FieldError>{problem.message}</FieldError>
            {problem.faults.map((fault) => (
              <FieldError key={`${fault.path} ${fault.code}`}>
                {fault.path === '' ? null : <code className="mono me-1.5">{fault.path}</code>}
                {fault.message}
              </FieldError>
            ))}
          </div>
        ) : null}
        {unsaved ? (
          <div className="flex flex-wrap gap-2">
            <Button busy={save.isPending} disabled={text.trim() === ''} onClick={submit}>
              {t('schema.save')}
            </Button>
            <Button variant="ghost" onClick={() => setText(saved)}>
              {t('schema.discard')}
            </Button>
          </div>
        ) : null}
      </CardBody>
    </Card>
  );
}
