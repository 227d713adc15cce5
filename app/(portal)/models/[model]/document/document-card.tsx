'use client';

import { Download } from 'lucide-react';
import type { Ref } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { saveFile } from '#app/_lib/save-file.ts';
import { IconButton } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import type { JsonEditorHandle } from '#app/_ui/json-editor.tsx';
import { jsonHeight } from '#app/_ui/json-height.ts';
import type { JsonMarks } from '#app/_ui/json-marks.ts';
import { LazyJsonEditor } from '#app/_ui/lazy-json-editor.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import type { DocumentDraft } from './use-document.ts';

export interface DocumentCardProps {
  model: string;
  editor: Ref<JsonEditorHandle>;
  draft: DocumentDraft;
  marks: JsonMarks;
  /** Whether the text is not valid JSON. */
  isBroken: boolean;
}

/** The document as JSON. Each fault is below its line. */
export function DocumentCard({ model, editor, draft, marks, isBroken }: DocumentCardProps) {
  const { t } = useTranslation('services');
  const file = `${model}.json`;
  return (
    <Card>
      <CardHeader
        title={
          <span translate="no" className="mono">
            {file}
          </span>
        }
        note={draft.isChanged ? t('document.changed') : t('document.unchanged')}
        actions={
          <IconButton label={t('document.download')} onClick={() => saveFile(file, draft.text, 'application/json')}>
            <Download aria-hidden />
          </IconButton>
        }
      />
      <div style={{ minHeight: jsonHeight(draft.text) }}>
        <LazyJsonEditor
          ref={editor}
          value={draft.text}
          replacements={draft.replacements}
          onChange={draft.setText}
          label={t('document.label', { model })}
          describedBy="document-keys"
          marks={marks}
        />
      </div>
      <div className="grid gap-1 border-t border-line-subtle px-4 py-2 text-12 text-ink-3">
        <p role="status" className="flex gap-1.5 text-failed-text empty:hidden">
          {isBroken ? (
            <>
              <StatusIcon status="failed" className="mt-0.5" />
              {t('document.broken')}
            </>
          ) : null}
        </p>
        <p id="document-keys">{t('document.keys')}</p>
      </div>
    </Card>
  );
}
