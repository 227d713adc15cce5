'use client';

import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { cn } from '#app/_ui/cn.ts';
import { CodeEditor } from '#app/_ui/code-editor.tsx';
import { FileButton } from '#app/(portal)/handlers/file-button.tsx';
import { useFileDrop } from '#app/(portal)/handlers/use-file-drop.ts';
import { readable, withoutIdentity } from '#app/(portal)/vms/[vmId]/executions/plan-text.ts';
import { executionLimits } from '#protocol/executions/limits.ts';

export interface PlanJsonCardProps {
  text: string;
  onText(text: string): void;
}

/** The whole plan as JSON. A file can be opened or dropped instead; its ID and stamp are removed. */
export function JsonCard({ text, onText }: PlanJsonCardProps) {
  const { t } = useTranslation('executions');
  const [note, setNote] = useState('');
  const take = async ([file]: readonly File[]) => {
    if (file === undefined) return;
    if (file.size > executionLimits.planBytes) return setNote(t('run.fileTooLarge', { name: file.name }));
    onText(readable(withoutIdentity(await file.text())));
    setNote(t('run.fileTaken', { name: file.name }));
  };
  const [isOver, drop] = useFileDrop((files) => void take(files));
  return (
    <Card {...drop} className={cn(isOver && 'outline-2 outline-brand-text')}>
      <CardHeader
        title={t('run.plan')}
        note={t('run.plan.note')}
        actions={
          <FileButton label={t('run.file')} accept=".json,application/json" onFiles={(files) => void take(files)} />
        }
      />
      <p role="status" className="px-4 pb-2 text-12 wrap-anywhere text-ink-2 empty:hidden">
        {note}
      </p>
      <CodeEditor value={text} onChange={onText} language="json" label={t('run.plan')} />
      <p className="border-t border-line-subtle px-4 py-2 text-12 text-ink-3">{t('run.keys')}</p>
    </Card>
  );
}
