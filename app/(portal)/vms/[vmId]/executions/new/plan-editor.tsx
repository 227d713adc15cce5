'use client';

import { type Ref, useMemo, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import type { ProblemFault } from '#app/_lib/problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { cn } from '#app/_ui/cn.ts';
import type { JsonEditorHandle, JsonPlace } from '#app/_ui/json-editor.tsx';
import { jsonHeight } from '#app/_ui/json-height.ts';
import { LazyJsonEditor } from '#app/_ui/lazy-json-editor.tsx';
import { FileButton } from '#app/(portal)/handlers/file-button.tsx';
import { useFileDrop } from '#app/(portal)/handlers/use-file-drop.ts';
import { executionLimits } from '#protocol/executions/limits.ts';
import { readable } from '../plan-text.ts';

export interface PlanEditorProps {
  editor: Ref<JsonEditorHandle>;
  text: string;
  faults: readonly ProblemFault[];
  /** Likely mistakes in the plan. */
  warnings?: readonly ProblemFault[];
  /** Whether the text is the plan of an earlier execution. */
  isCopy?: boolean;
  /** Changes the text of a file before the editor shows it. */
  adapt?(text: string): string;
  /** The place that gets the focus when the editor opens. */
  startAt?: JsonPlace | undefined;
  onText(text: string): void;
}

/** Edits a plan as JSON. The text can also be loaded by opening or dropping a file. */
export function PlanEditor({
  editor,
  text,
  faults,
  warnings = noWarnings,
  isCopy = false,
  adapt = asItIs,
  startAt,
  onText,
}: PlanEditorProps) {
  const { t } = useTranslation('executions');
  const [replacements, setReplacements] = useState(0);
  const [note, setNote] = useState(isCopy ? t('run.copy') : '');
  const replace = (next: string) => {
    onText(next);
    setReplacements(replacements + 1);
  };
  const take = async ([file]: readonly File[]) => {
    if (file === undefined) return;
    if (file.size > executionLimits.planBytes) return setNote(t('run.fileTooLarge', { name: file.name }));
    replace(readable(adapt(await file.text())));
    setNote(t('run.fileTaken', { name: file.name }));
  };
  const [isOver, drop] = useFileDrop((files) => void take(files));
  const marks = useMemo(() => ({ faults: faults.map(markOf), warnings: warnings.map(markOf) }), [faults, warnings]);
  const formatted = formattedOf(text);
  return (
    <Card {...drop} className={cn(isOver && 'outline-2 outline-brand-text')}>
      <CardHeader
        title={t('run.plan')}
        note={t('run.plan.note')}
        actions={
          <>
            <Button
              size="sm"
              variant="ghost"
              disabled={formatted === null || formatted === text}
              onClick={() => formatted !== null && replace(formatted)}
            >
              {t('run.format')}
            </Button>
            <FileButton label={t('run.file')} accept=".json,application/json" onFiles={(files) => void take(files)} />
          </>
        }
      />
      <p role="status" className="px-4 pb-2 text-12 wrap-anywhere text-ink-2 empty:hidden">
        {note}
      </p>
      <div style={{ minHeight: jsonHeight(text) }}>
        <LazyJsonEditor
          ref={editor}
          value={text}
          replacements={replacements}
          onChange={onText}
          label={t('run.plan')}
          describedBy="plan-keys"
          marks={marks}
          startAt={startAt}
        />
      </div>
      <p id="plan-keys" className="border-t border-line-subtle px-4 py-2 text-12 text-ink-3">
        {t('run.keys')}
      </p>
    </Card>
  );
}

const noWarnings: readonly ProblemFault[] = [];
const asItIs = (text: string): string => text;
const markOf = ({ path, message, line }: ProblemFault) => ({ pointer: path, path, message, line });

function formattedOf(text: string): string | null {
  try {
    return `${JSON.stringify(JSON.parse(text), null, 2)}\n`;
  } catch {
    return null;
  }
}
