'use client';

import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { CodeEditor } from '#app/_ui/code-editor.tsx';
import { Chip } from '#app/_ui/tag.tsx';
import { executionLimits } from '#protocol/executions/limits.ts';
import { AddScript } from './add-script.tsx';
import { addFile, addScript, readDraft, setBody } from './plan-draft.ts';
import { ScriptCard } from './script-card.tsx';

export interface PlanPartsEditorProps {
  text: string;
  onText(text: string): void;
  /** Shows the whole plan as JSON. */
  onJson(): void;
}

/** Edits a plan in its parts: the Body, and the scripts with their files. Both change one JSON text. */
export function PlanPartsEditor({ text, onText, onJson }: PlanPartsEditorProps) {
  const { t } = useTranslation('runbooks');
  const [note, setNote] = useState('');
  const draft = readDraft(text);
  if (draft === null) {
    return (
      <Card>
        <CardHeader title={t('edit.body')} />
        <CardBody className="grid justify-items-start gap-2">
          <p className="text-ink-2">{t('edit.malformed')}</p>
          <Button size="sm" onClick={onJson}>
            {t('edit.toJson')}
          </Button>
        </CardBody>
      </Card>
    );
  }
  const takeFiles = async (script: string, files: readonly File[]) => {
    let next = text;
    const notes = new Set<string>();
    for (const file of files) {
      const body = file.size > executionLimits.planBytes ? '' : await file.text();
      if (file.size > executionLimits.planBytes) notes.add(t('edit.tooLarge', { name: file.name }));
      // Text contains no NUL characters, so this file is probably a program or an archive.
      else if (body.includes('\0')) notes.add(t('edit.notText', { name: file.name }));
      else {
        if (body.includes('\r')) notes.add(t('edit.madeLf'));
        next = addFile(next, script, file.name, body);
      }
    }
    onText(next);
    setNote([...notes].join(' '));
  };
  return (
    <>
      <Card>
        <CardHeader title={t('edit.body')} note={t('edit.body.note')} />
        <CodeEditor
          value={draft.body}
          onChange={(body) => onText(setBody(text, body))}
          language="python"
          label={t('edit.body')}
        />
        <p className="flex flex-wrap items-center gap-1.5 border-t border-line-subtle px-4 py-2 text-12 text-ink-3">
          {t('edit.callable')}
          {draft.scripts.map(({ name }) => (
            <Chip key={name} translate="no" className="mono-11">
              {name}()
            </Chip>
          ))}
          {['api.logInfo()', 'api.setState()', 'api.waitReboot()'].map((call) => (
            <Chip key={call} translate="no" className="mono-11">
              {call}
            </Chip>
          ))}
        </p>
      </Card>
      <p role="status" className="text-12 text-ink-2 empty:hidden">
        {note}
      </p>
      {draft.scripts.map((script) => (
        <ScriptCard
          key={script.name}
          script={script}
          text={text}
          onText={onText}
          onFiles={(files) => void takeFiles(script.name, files)}
        />
      ))}
      <AddScript
        taken={draft.scripts.map(({ name }) => name)}
        onAdd={(name, type) => onText(addScript(text, name, type))}
      />
    </>
  );
}
