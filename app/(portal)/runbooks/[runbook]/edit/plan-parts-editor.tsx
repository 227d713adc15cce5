'use client';

import { type Ref, useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import type { ProblemFault } from '#app/_lib/problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { CodeEditor, type CodeEditorHandle } from '#app/_ui/code-editor.tsx';
import type { LineMark } from '#app/_ui/line-marks.ts';
import { Chip } from '#app/_ui/tag.tsx';
import { executionLimits } from '#protocol/executions/limits.ts';
import { AddScript } from './add-script.tsx';
import { faultsOfScript } from './draft-faults.ts';
import { addParameter, missingParameter } from './missing-parameter.ts';
import { addFile, addScript, type PlanDraft, readDraft, setBody } from './plan-draft.ts';
import { ScriptCard } from './script-card.tsx';
import { withTyped } from './typed-texts.ts';
import type { RunbookChange, RunbookDraft } from './use-runbook-draft.ts';

export interface PlanPartsEditorProps {
  draft: RunbookDraft;
  /** Faults of the plan, with paths in the plan. Faults that a field shows itself are omitted. */
  faults: readonly ProblemFault[];
  /** Warnings about the plan, with paths in the plan. */
  warnings: readonly ProblemFault[];
  /** The editor of the Body. */
  body: Ref<CodeEditorHandle>;
  onChange(part: RunbookChange): void;
  /** Shows the whole plan as JSON. */
  onJson(): void;
}

/** Edits a plan in its parts: the Body, and the scripts with their files. Both change one JSON text. */
export function PlanPartsEditor({ draft, faults, warnings, body, onChange, onJson }: PlanPartsEditorProps) {
  const { t } = useTranslation(['runbooks', 'executions']);
  const [note, setNote] = useState('');
  const text = draft.plan;
  const onText = (plan: string) => onChange({ plan });
  const onTyped = (place: string, typed: string | null) =>
    onChange((before) => ({ typed: withTyped(before.typed, place, typed) }));
  const marks = useBodyMarks(draft, warnings, onChange);
  const parts = readDraft(text);
  if (parts === null) {
    return (
      <Card>
        <CardHeader title={t('executions:run.plan')} />
        <CardBody className="grid justify-items-start gap-2">
          <p className="text-ink-2">{t('runbooks:edit.malformed')}</p>
          <Button size="sm" onClick={onJson}>
            {t('runbooks:edit.toJson')}
          </Button>
        </CardBody>
      </Card>
    );
  }
  const takeFiles = async (script: string, files: readonly File[]) => {
    let next = text;
    const notes = new Set<string>();
    for (const file of files) {
      const content = file.size > executionLimits.planBytes ? '' : await file.text();
      if (file.size > executionLimits.planBytes) notes.add(t('runbooks:edit.tooLarge', { name: file.name }));
      // Text contains no NUL characters, so this file is probably a program or an archive.
      else if (content.includes('\0')) notes.add(t('runbooks:edit.notText', { name: file.name }));
      else {
        if (content.includes('\r')) notes.add(t('runbooks:edit.madeLf'));
        next = addFile(next, script, file.name, content);
      }
    }
    onText(next);
    setNote([...notes].join(' '));
  };
  return (
    <>
      <BodyCard {...{ parts, marks, editor: body }} onBody={(changed) => onText(setBody(text, changed))} />
      <p role="status" className="text-12 text-ink-2 empty:hidden">
        {note}
      </p>
      {parts.scripts.map((script) => (
        <ScriptCard
          key={script.name}
          script={script}
          faults={faultsOfScript(faults, script)}
          warnings={faultsOfScript(warnings, script)}
          text={text}
          typed={draft.typed}
          onText={onText}
          onTyped={onTyped}
          onFiles={(files) => void takeFiles(script.name, files)}
        />
      ))}
      <AddScript
        taken={parts.scripts.map(({ name }) => name)}
        onAdd={(name, type) => onText(addScript(text, name, type))}
      />
    </>
  );
}

interface BodyCardProps {
  parts: PlanDraft;
  marks: readonly LineMark[];
  editor: Ref<CodeEditorHandle>;
  onBody(body: string): void;
}

/** Edits the Body, and names what it can call. */
function BodyCard({ parts, marks, editor, onBody }: BodyCardProps) {
  const { t } = useTranslation('runbooks');
  return (
    <Card>
      <CardHeader title={t('edit.body')} note={t('edit.body.note')} />
      <div data-at="/plan/Body">
        <CodeEditor
          ref={editor}
          value={parts.body}
          onChange={onBody}
          language="python"
          label={t('edit.body')}
          warnings={marks}
        />
      </div>
      <p className="flex flex-wrap items-center gap-1.5 border-t border-line-subtle px-4 py-2 text-12 text-ink-3">
        {t('edit.callable')}
        {parts.scripts.map(({ name }) => (
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
  );
}

/** The warnings about lines of the Body. A parameter that the schema lacks can be added to the schema. */
function useBodyMarks(
  { plan, schema }: RunbookDraft,
  warnings: readonly ProblemFault[],
  onChange: PlanPartsEditorProps['onChange'],
): LineMark[] {
  const { t } = useTranslation('runbooks');
  const latest = useRef(onChange);
  useEffect(() => {
    latest.current = onChange;
  });
  return useMemo(() => {
    const lines = readDraft(plan)?.body.split('\n') ?? [];
    return warnings.flatMap(({ path, code, message, line }) => {
      if (path !== '/Body' || line === undefined) return [];
      const name = code === 'lint_unknown_parameter' ? missingParameter(lines[line - 1] ?? '', schema) : null;
      if (name === null) return [{ line, message }];
      const run = () => latest.current((before) => ({ schema: addParameter(before.schema, name) }));
      return [{ line, message, act: { label: t('edit.addParameter', { name }), run } }];
    });
  }, [plan, schema, warnings, t]);
}
