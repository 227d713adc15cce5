'use client';

import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { Input } from '#app/_ui/input.tsx';
import { Select } from '#app/_ui/select.tsx';
import { placeholdersOf } from '#protocol/template.ts';
import { FileButton } from '../../../file-button.tsx';
import { useFileDrop } from '../../../use-file-drop.ts';
import type { VersionResources } from '../version-data.ts';
import { AddLanguage, AddMessage } from './add-forms.tsx';
import { differenceOf } from './message-row.tsx';
import { MessageTable } from './message-table.tsx';
import { Received } from './received.tsx';
import { SaveBar } from './save-bar.tsx';
import type { Start } from './start.ts';
import { type Messages, useMessages } from './use-messages.ts';
import { useResourceFiles } from './use-resource-files.ts';

export interface MessagesCardProps {
  handler: string;
  version: string;
  resources: VersionResources;
  mayEdit: boolean;
  onUnsaved(unsaved: boolean): void;
  start: Start;
}

const filters = ['all', 'missing', 'differing'] as const;
type Shown = (typeof filters)[number];

/** The messages by language: dropped as files or typed here, previewed with samples, saved per language. */
export function MessagesCard({ handler, version, resources, mayEdit, onUnsaved, start }: MessagesCardProps) {
  const { t } = useTranslation('localization');
  const messages = useMessages(resources, onUnsaved, mayEdit ? start : {});
  const files = useResourceFiles({ handler, version, onStored: messages.discard });
  const [over, dropProps] = useFileDrop(files.take);
  const [search, setSearch] = useState('');
  const [shown, setShown] = useState<Shown>(start.missing === undefined ? 'all' : 'missing');
  const [open, setOpen] = useState(() => openedBy(start, messages));
  const [samples, setSamples] = useState<readonly string[]>(start.message?.params ?? []);
  // A message stays in sight while it is worked on, even when it no longer fits the filter.
  const ids = messages.ids.filter((id) => id === open?.id || fits(messages, id, search, shown));
  const placeholders = open ? placeholdersIn(messages, open.id) : [];
  const isEmpty = messages.ids.length === 0;
  return (
    <Card {...(mayEdit ? dropProps : {})} className={over && mayEdit ? 'shadow-focus' : undefined}>
      <CardHeader
        title={t('messages')}
        note={
          isEmpty
            ? undefined
            : `${t('ids', { count: messages.ids.length })}, ${t('languages', { count: messages.languages.length })}`
        }
        actions={
          mayEdit ? (
            <>
              <AddLanguage known={messages.languages} onAdd={messages.addLanguage} />
              <FileButton
                accept=".json,application/json"
                multiple
                label={t('choose')}
                busy={files.busy}
                onFiles={files.take}
              />
            </>
          ) : undefined
        }
      />
      {isEmpty ? (
        <CardBody>
          <p className="text-ink-2">{t(mayEdit ? 'empty.why' : 'empty.viewer')}</p>
        </CardBody>
      ) : (
        <>
          <div className="flex flex-wrap items-center gap-2 px-4 pb-2">
            <Input
              type="search"
              aria-label={t('search')}
              placeholder={t('search')}
              value={search}
              onChange={(event) => setSearch(event.target.value)}
              className="w-[220px]"
            />
            <Select
              aria-label={t('shown')}
              value={shown}
              onChange={(event) => setShown(filters.find((filter) => filter === event.target.value) ?? 'all')}
              options={filters.map((filter) => ({ value: filter, label: t(`shown.${filter}`) }))}
              className="w-44"
            />
            {open ? (
              <fieldset className="ms-auto flex flex-wrap items-center gap-2">
                <legend className="sr-only">{t('sampleFor', { id: open.id })}</legend>
                {placeholders.length > 0 ? (
                  <span className="text-12 text-ink-3" aria-hidden>
                    {t('samples')}
                  </span>
                ) : null}
                {placeholders.map((index) => (
                  <Input
                    key={index}
                    aria-label={t('sample', { placeholder: `{${index}}` })}
                    before={<span className="mono shrink-0 text-brand-text">{`{${index}}`}</span>}
                    value={samples[index] ?? ''}
                    onChange={(event) =>
                      setSamples((current) => Object.assign([...current], { [index]: event.target.value }))
                    }
                    className="w-36"
                  />
                ))}
              </fieldset>
            ) : null}
          </div>
          {ids.length === 0 ? (
            <p className="px-4 pb-4 text-ink-2">{t('noMatch')}</p>
          ) : (
            <MessageTable
              messages={messages}
              ids={ids}
              mayEdit={mayEdit}
              open={open}
              onOpen={setOpen}
              samples={filled(samples)}
            />
          )}
        </>
      )}
      {mayEdit ? (
        <>
          <Received received={files.received} onClose={files.clear} />
          <AddMessage
            known={messages.ids}
            onAdd={(id) => {
              messages.addId(id);
              setSearch('');
              setShown('all');
              setOpen({ id, lang: messages.languages[0] ?? 'en' });
            }}
          />
          <SaveBar handler={handler} version={version} messages={messages} />
        </>
      ) : null}
    </Card>
  );
}

/** The message and the language whose field the address asks for. */
function openedBy({ message, missing }: Start, messages: Messages): { id: string; lang: string } | undefined {
  if (message !== undefined && messages.ids.includes(message.id)) return message;
  if (missing === undefined) return undefined;
  const id = messages.ids.find((each) => messages.textOf(missing, each).trim() === '');
  return id === undefined ? undefined : { id, lang: missing };
}

/** A blank sample leaves its placeholder standing. */
const filled = (samples: readonly string[]): string[] =>
  Array.from(samples, (sample, index) => (sample === undefined || sample === '' ? `{${index}}` : sample));

function fits(messages: Messages, id: string, search: string, shown: Shown): boolean {
  const { languages, textOf } = messages;
  if (shown === 'missing' && languages.every((lang) => textOf(lang, id).trim() !== '')) return false;
  if (shown === 'differing' && languages.every((lang) => differenceOf(messages, lang, id) === undefined)) return false;
  const wanted = search.trim().toLowerCase();
  if (wanted === '' || id.toLowerCase().includes(wanted)) return true;
  return languages.some((lang) => textOf(lang, id).toLowerCase().includes(wanted));
}

function placeholdersIn({ languages, textOf }: Messages, id: string): number[] {
  const all = new Set(languages.flatMap((lang) => placeholdersOf(textOf(lang, id))));
  return [...all].sort((a, b) => a - b).slice(0, 10);
}
