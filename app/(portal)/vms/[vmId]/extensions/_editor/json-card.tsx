'use client';

import { Braces, Lock } from 'lucide-react';
import dynamic from 'next/dynamic';
import { type Ref, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { CodeBlock } from '#app/_ui/code-block.tsx';
import type { JsonEditorHandle } from '#app/_ui/json-editor.tsx';
import { jsonHeight } from '#app/_ui/json-height.ts';
import type { JsonMarks } from '#app/_ui/json-marks.ts';
import { LazyJsonEditor } from '#app/_ui/lazy-json-editor.tsx';
import { isEmptySecret, type ProtectedDraft } from './draft.ts';
import { isUntouched } from './single-change.ts';

const Dialog = dynamic(() => import('#app/_ui/dialog.tsx').then((module) => module.Dialog), { ssr: false });

export interface JsonCardProps {
  editor: Ref<JsonEditorHandle>;
  text: string;
  onText(text: string): void;
  unwraps: number;
  wasWrapped: boolean;
  /** Formats the text; undefined while the text is invalid. */
  onFormat: (() => void) | undefined;
  marks: JsonMarks;
  secrets: ProtectedDraft;
  hadSecrets: boolean;
  handler: string;
  version: string;
  schema: unknown;
  followsForm: boolean;
}

/** Public settings as JSON, and a line about protected settings, whose values are never shown. */
export function JsonCard(props: JsonCardProps) {
  const { text, onText, onFormat, marks, secrets, hadSecrets, handler, version, schema, followsForm } = props;
  const { t } = useTranslation('editor');
  const [showsSchema, setShowsSchema] = useState(false);
  const secretWords =
    secrets.mode === 'remove'
      ? t('json.protectedRemoved')
      : secrets.mode === 'change' && !isUntouched(secrets)
        ? t('json.protectedChanged')
        : secrets.mode === 'keep' || secrets.mode === 'change'
          ? t(hadSecrets ? 'json.protectedKept' : 'json.protectedNone')
          : !isEmptySecret(secrets.values) || hadSecrets
            ? t('json.protectedReplaced')
            : t('json.protectedNone');
  return (
    <Card>
      <CardHeader
        title={t('json.title')}
        note={followsForm ? t('json.note') : <span className="mono">{t('json.alone')}</span>}
        actions={
          <>
            <Button size="sm" variant="ghost" disabled={onFormat === undefined} onClick={onFormat}>
              {t('json.format')}
            </Button>
            {schema === null ? null : (
              <Button size="sm" variant="ghost" onClick={() => setShowsSchema(true)}>
                <Braces aria-hidden />
                {t('json.schema')}
              </Button>
            )}
          </>
        }
      />
      <p role="status" className={props.wasWrapped ? 'px-4 pb-2 text-12 text-ink-2' : 'sr-only'}>
        {props.wasWrapped ? t('json.unwrapped') : null}
      </p>
      <div style={{ minHeight: jsonHeight(text) }}>
        <LazyJsonEditor
          ref={props.editor}
          value={text}
          replacements={props.unwraps}
          onChange={onText}
          label={t('json.label')}
          describedBy="json-keys"
          marks={marks}
        />
      </div>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-t border-line-subtle px-4 py-2 text-12 text-ink-3">
        <span className="flex items-center gap-1.5">
          <Lock aria-hidden className="size-3.5" />
          <span translate="no" className="mono">
            protectedSettings
          </span>
          {secretWords}
        </span>
        <span id="json-keys" className="ms-auto">
          {t('json.keys')}
        </span>
      </div>
      {showsSchema ? (
        <Dialog open onOpenChange={setShowsSchema} size="wide" title={t('json.schemaOf', { handler, version })}>
          <CodeBlock
            code={JSON.stringify(schema, null, 2)}
            language="json"
            label={t('json.schemaOf', { handler, version })}
            className="max-h-[70vh]"
          />
        </Dialog>
      ) : null}
    </Card>
  );
}
