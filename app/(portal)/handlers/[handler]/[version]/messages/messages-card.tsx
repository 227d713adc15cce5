'use client';

import { Languages } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useMemo, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Banner } from '#app/_ui/banner.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { Input } from '#app/_ui/input.tsx';
import { Select } from '#app/_ui/select.tsx';
import { placeholdersOf } from '#protocol/template.ts';
import { FileButton } from '../../../file-button.tsx';
import { useFileDrop } from '../../../use-file-drop.ts';
import type { VersionResources } from '../version-data.ts';
import { AddLanguage, AddMessage } from './add-forms.tsx';
import { filters, fits, type Shown } from './filter.ts';
import { fewColumns, LanguageColumns } from './language-columns.tsx';
import { MessageTable } from './message-table.tsx';
import { Received } from './received.tsx';
import { SampleFields } from './sample-fields.tsx';
import { SaveBar } from './save-bar.tsx';
import type { Start } from './start.ts';
import { type Messages, useMessages } from './use-messages.ts';
import { useResourceFiles } from './use-resource-files.ts';

const XliffExport = dynamic(() => import('./xliff-export.tsx').then((module) => module.XliffExport), { ssr: false });
const XliffImport = dynamic(() => import('./xliff-import.tsx').then((module) => module.XliffImport), { ssr: false });

export interface MessagesCardProps {
  handler: string;
  version: string;
  resources: VersionResources;
  mayEdit: boolean;
  onUnsaved(unsaved: boolean): void;
  start: Start;
}

const isXliff = ({ name }: File): boolean => /\.(?:xlf|xliff)$/i.test(name);

/** The messages by language: dropped as files or typed here, previewed with samples, saved per language. */
export function MessagesCard({ handler, version, resources, mayEdit, onUnsaved, start }: MessagesCardProps) {
  const { t, i18n } = useTranslation('localization');
  const messages = useMessages(resources, onUnsaved, mayEdit ? start : {});
  const files = useResourceFiles({ handler, version, onStored: messages.discard });
  const [translated, setTranslated] = useState<File>();
  const [exporting, setExporting] = useState(false);
  const take = (all: readonly File[]) => {
    setTranslated(all.find(isXliff));
    const others = all.filter((file) => !isXliff(file));
    if (others.length > 0) files.take(others);
  };
  const [over, dropProps] = useFileDrop(take);
  const [search, setSearch] = useState('');
  const [shown, setShown] = useState<Shown>(start.missing === undefined ? 'all' : 'missing');
  const [open, setOpen] = useState(() => openedBy(start, messages));
  const [samples, setSamples] = useState<readonly string[]>(start.message?.params ?? []);
  const [columns, setColumns] = useState<readonly string[]>();
  const languages = useMemo(
    () => columnsOf(messages.languages, columns, [start.message?.lang ?? start.missing, i18n.language]),
    [messages.languages, columns, start, i18n.language],
  );
  // A message stays in sight while it is worked on, even when it no longer fits the filter.
  const ids =
    search === '' && shown === 'all'
      ? messages.ids
      : messages.ids.filter((id) => id === open?.id || fits(messages, languages, id, { search, shown }));
  const isEmpty = messages.ids.length === 0;
  const hasEnglish = resources.languages.some(({ lang }) => lang === 'en');
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
          <>
            {mayEdit ? (
              <AddLanguage
                known={messages.languages}
                onAdd={(lang) => {
                  messages.addLanguage(lang);
                  setColumns([...languages, lang]);
                }}
              />
            ) : null}
            {hasEnglish ? (
              <Button size="sm" onClick={() => setExporting(true)}>
                <Languages aria-hidden />
                {t('xliff.export')}
              </Button>
            ) : null}
            {mayEdit ? (
              <FileButton
                accept=".json,application/json,.xlf,.xliff,application/xliff+xml"
                multiple
                label={t('choose')}
                busy={files.busy}
                onFiles={take}
              />
            ) : null}
          </>
        }
      />
      {resources.leftOut?.languages ? (
        <CardBody>
          <Banner status="warning" boxed>
            {t('languages.leftOut', { count: resources.leftOut.languages })}
          </Banner>
        </CardBody>
      ) : null}
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
              className="w-48"
            />
            <LanguageColumns languages={messages.languages} shown={languages} onShown={setColumns} />
            {open ? (
              <SampleFields
                id={open.id}
                placeholders={placeholdersIn(
                  messages,
                  open.id,
                  start.message?.id === open.id ? start.message.params : [],
                )}
                samples={samples}
                onSample={(index, value) => setSamples((current) => Object.assign([...current], { [index]: value }))}
              />
            ) : null}
          </div>
          {ids.length === 0 ? (
            <p className="px-4 pb-4 text-ink-2">{t('noMatch')}</p>
          ) : (
            <MessageTable
              messages={messages}
              languages={languages}
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
              setOpen({ id, lang: languages[0] ?? 'en' });
            }}
          />
          <SaveBar
            handler={handler}
            version={version}
            resources={resources}
            messages={messages}
            onOpen={(next) => {
              setColumns([...new Set([...languages, next.lang])]);
              setOpen(next);
            }}
          />
        </>
      ) : null}
      {exporting ? (
        <XliffExport
          handler={handler}
          version={version}
          languages={messages.languages}
          onClose={() => setExporting(false)}
        />
      ) : null}
      {translated && mayEdit ? (
        <XliffImport
          key={`${translated.name} ${translated.lastModified} ${translated.size}`}
          handler={handler}
          version={version}
          file={translated}
          onClose={() => setTranslated(undefined)}
        />
      ) : null}
    </Card>
  );
}

/** English, those that the address and the reader ask for, and as many others as fit; or what was chosen. */
function columnsOf(
  all: readonly string[],
  chosen: readonly string[] | undefined,
  asked: readonly (string | undefined)[],
): readonly string[] {
  if (chosen !== undefined) return all.filter((lang) => chosen.includes(lang));
  const first = all.filter((lang) => lang === 'en' || asked.includes(lang));
  const wanted = new Set([...first, ...all].slice(0, Math.max(fewColumns, first.length)));
  return all.filter((lang) => wanted.has(lang));
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

/** Those of its texts, and those that the params it was reported with would fill. */
function placeholdersIn({ languages, textOf }: Messages, id: string, params: readonly string[]): number[] {
  const all = new Set([...params.keys(), ...languages.flatMap((lang) => placeholdersOf(textOf(lang, id)))]);
  return [...all].sort((a, b) => a - b).slice(0, 10);
}
