'use client';

import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import type { ProblemFault } from '#app/_lib/problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { cn } from '#app/_ui/cn.ts';
import { CodeEditor } from '#app/_ui/code-editor.tsx';
import { Field, FieldError } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import { Segmented } from '#app/_ui/segmented.tsx';
import { Select } from '#app/_ui/select.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { FileButton } from '#app/(portal)/handlers/file-button.tsx';
import { useFileDrop } from '#app/(portal)/handlers/use-file-drop.ts';
import { jsonPointer } from '#protocol/pointer.ts';
import { OptionsForm } from './options-form.tsx';
import { removeFile, removeScript, type ScriptDraft, setFileText, setOptions, setScript } from './plan-draft.ts';
import { scriptTypes } from './script-types.ts';
import { optionsPlace, type TypedTexts } from './typed-texts.ts';

export interface ScriptCardProps {
  script: ScriptDraft;
  /** Faults of the script and its files, unless a field shows them. */
  faults: readonly ProblemFault[];
  warnings: readonly ProblemFault[];
  /** The plan's text. */
  text: string;
  typed: TypedTexts;
  onText(text: string): void;
  /** Stores a text that is not valid yet, or removes it with null. */
  onTyped(place: string, text: string | null): void;
  /** Adds files to the script. */
  onFiles(files: readonly File[]): void;
}

/** Edits a script: its files, its type and its options. */
export function ScriptCard({ script, faults, warnings, onFiles, ...editing }: ScriptCardProps) {
  const { text, onText } = editing;
  const { t } = useTranslation('runbooks');
  const [chosen, setChosen] = useState(script.entryPoint);
  const [isOver, drop] = useFileDrop(onFiles);
  const { name, files, entryPoint } = script;
  const file = files.find(({ id }) => id === chosen) ?? files[0];
  return (
    <Card {...drop} className={cn(isOver && 'outline-2 outline-brand-text')}>
      <CardHeader
        title={
          <span translate="no" className="mono">
            {name}
          </span>
        }
        note={t('script.note')}
        actions={
          <>
            <FileButton label={t('script.file')} accept="" multiple onFiles={onFiles} />
            <Button size="sm" variant="ghost" onClick={() => onText(removeScript(text, name))}>
              <Trash2 aria-hidden />
              {t('script.remove')}
            </Button>
          </>
        }
      />
      <Remarks faults={faults} warnings={warnings} />
      {files.length < 2 ? null : (
        <div className="flex flex-wrap items-center gap-2 px-4 pb-2">
          <Segmented<string>
            label={t('script.files', { name })}
            value={file?.id ?? ''}
            onChange={setChosen}
            options={files.map(({ id, name: label }) => ({ value: id, label: <span translate="no">{label}</span> }))}
            className="max-w-full overflow-x-auto"
          />
          {file === undefined || file.id === entryPoint ? null : (
            <Button size="sm" variant="ghost" onClick={() => onText(removeFile(text, name, file.id))}>
              {t('script.file.remove', { name: file.name })}
            </Button>
          )}
        </div>
      )}
      {file === undefined ? (
        <CardBody className="text-ink-2">{t('script.noFile')}</CardBody>
      ) : file.text === null ? (
        <CardBody className="text-ink-2">{t('script.notText', { name: file.name })}</CardBody>
      ) : (
        <CodeEditor
          key={file.id}
          value={file.text}
          onChange={(body) => onText(setFileText(text, file.id, body))}
          language={file.name.endsWith('.py') ? 'python' : file.name.endsWith('.json') ? 'json' : 'text'}
          label={t('script.text', { name: file.name })}
        />
      )}
      <ScriptFields script={script} {...editing} />
    </Card>
  );
}

/** The faults and warnings of a script, above its text. */
function Remarks({ faults, warnings }: Pick<ScriptCardProps, 'faults' | 'warnings'>) {
  if (faults.length + warnings.length === 0) return null;
  return (
    <ul className="grid grid-cols-[minmax(0,1fr)] gap-1 px-4 pb-2.5 text-12">
      {faults.map(({ path, message }) => (
        <li key={`${path} ${message}`}>
          <FieldError>{message}</FieldError>
        </li>
      ))}
      {warnings.map(({ path, message }) => (
        <li key={`${path} ${message}`} className="flex items-baseline gap-1.5">
          <StatusIcon status="warning" className="relative top-0.5 shrink-0" />
          <span className="min-w-0 wrap-anywhere">{message}</span>
        </li>
      ))}
    </ul>
  );
}

type ScriptEditing = Omit<ScriptCardProps, 'onFiles' | 'faults' | 'warnings'>;

function ScriptFields({ script, ...editing }: ScriptEditing) {
  const { text, onText } = editing;
  const { t } = useTranslation(['runbooks', 'common']);
  const { name, type, version, entryPoint, files } = script;
  const isKnown = scriptTypes.some((each) => each === type);
  const isFile = files.some(({ id }) => id === entryPoint);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3 border-t border-line-subtle px-4 py-3 sm:grid-cols-3">
      <Field label={t('runbooks:script.type')}>
        <Select
          data-at={`/plan${jsonPointer(['Scripts', name, 'Type'])}`}
          value={type}
          onChange={(event) => onText(setScript(text, name, { type: event.target.value }))}
          options={[...(isKnown ? [] : [type]), ...scriptTypes].map((each) => ({
            value: each,
            label: each,
            isName: true,
          }))}
        />
      </Field>
      <Field label={t('runbooks:script.entryPoint')}>
        <Select
          data-at={`/plan${jsonPointer(['Scripts', name, 'EntryPoint'])}`}
          value={entryPoint}
          onChange={(event) => onText(setScript(text, name, { entryPoint: event.target.value }))}
          options={[
            ...(isFile ? [] : [{ value: entryPoint, label: entryPoint, isName: true }]),
            ...files.map(({ id, name: label }) => ({ value: id, label, isName: true })),
          ]}
        />
      </Field>
      <Field label={t('runbooks:script.version')} note={t('common:optional')}>
        <Input
          data-at={`/plan${jsonPointer(['Scripts', name, 'Version'])}`}
          mono
          maxLength={64}
          value={version}
          onChange={(event) => onText(setScript(text, name, { version: event.target.value }))}
        />
      </Field>
      <Options script={script} {...editing} />
    </div>
  );
}

type OptionsView = 'form' | 'json';

/** The options of a script, as a form or as JSON. */
function Options({ script, text, typed, onText, onTyped }: ScriptEditing) {
  const { t } = useTranslation('runbooks');
  const { name, type, options } = script;
  const place = optionsPlace(name);
  const [view, setView] = useState<OptionsView>(typed[place] === undefined ? 'form' : 'json');
  return (
    <section
      aria-label={t('script.options.of', { name })}
      className="grid grid-cols-[minmax(0,1fr)] gap-2 sm:col-span-3"
    >
      <div className="flex flex-wrap items-center gap-2">
        <h3 className="text-13 font-semibold">{t('script.options')}</h3>
        <Segmented<OptionsView>
          label={t('script.options.view')}
          value={view}
          onChange={setView}
          options={[
            { value: 'form', label: t('run.view.form') },
            { value: 'json', label: <span translate="no">JSON</span> },
          ]}
          className="ms-auto"
        />
      </div>
      <div data-at={`/plan${place}`} className="grid grid-cols-[minmax(0,1fr)] gap-2">
        {view === 'json' ? (
          <OptionsJson {...{ script, text, typed, onText, onTyped }} />
        ) : typed[place] !== undefined ? (
          <div className="grid justify-items-start gap-2">
            <p className="text-ink-2">{t('script.options.malformed')}</p>
            <Button size="sm" onClick={() => setView('json')}>
              {t('edit.toJson')}
            </Button>
          </div>
        ) : (
          <OptionsForm
            {...{ name, type, typed, onTyped }}
            options={JSON.parse(options)}
            onOptions={(next) => onText(setOptions(text, name, JSON.stringify(next)) ?? text)}
          />
        )}
      </div>
    </section>
  );
}

/** The options as JSON. Typed text changes the plan only if the text is a JSON object. */
function OptionsJson({ script: { name, options }, text, typed, onText, onTyped }: ScriptEditing) {
  const { t } = useTranslation('runbooks');
  const place = optionsPlace(name);
  const [shown, setShown] = useState(typed[place] ?? options);
  return (
    <>
      <div className="overflow-hidden rounded-md shadow-hair">
        <CodeEditor
          value={shown}
          onChange={(next) => {
            setShown(next);
            const plan = setOptions(text, name, next);
            onTyped(place, plan === null ? next : null);
            if (plan !== null) onText(plan);
          }}
          language="json"
          label={t('script.options.of', { name })}
        />
      </div>
      {typed[place] === undefined ? null : <FieldError>{t('run.json.malformed')}</FieldError>}
    </>
  );
}
