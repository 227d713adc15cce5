'use client';

import { useMemo, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Banner } from '#app/_ui/banner.tsx';
import { Card, CardBody } from '#app/_ui/card.tsx';
import { useFileDrop } from '../../../use-file-drop.ts';
import type { Version, VersionResources } from '../version-data.ts';
import { AddMessage } from './add-forms.tsx';
import { AddSettingTitles } from './add-setting-titles.tsx';
import { CarriedLanguages } from './carried-languages.tsx';
import { fewColumns } from './language-columns.tsx';
import { MessageTable } from './message-table.tsx';
import { MessageToolbar } from './message-toolbar.tsx';
import { MessagesHeader } from './messages-header.tsx';
import { Received } from './received.tsx';
import { SaveBar } from './save-bar.tsx';
import type { MessagesStart } from './start.ts';
import { type OpenMessage, useMessageFilter } from './use-message-filter.ts';
import { type EditedMessages, useMessages } from './use-messages.ts';
import { useResourceFiles } from './use-resource-files.ts';
import { XliffDialogs } from './xliff-dialogs.tsx';

export interface MessagesCardProps {
  handler: string;
  version: string;
  resources: VersionResources;
  /** The titles and descriptions in the settings schema, as messages. */
  settingMessages: Version['settingMessages'];
  mayEdit: boolean;
  onUnsaved(unsaved: boolean): void;
  start: MessagesStart;
}

/**
 * The messages by language. Publishers can drop files or type texts, and preview a message with sample values. Each
 * language is saved separately.
 */
export function MessagesCard({ handler, version, resources, mayEdit, onUnsaved, start, ...props }: MessagesCardProps) {
  const messages = useMessages(resources, onUnsaved, mayEdit ? start : {});
  const files = useMessageFiles(handler, version, messages);
  const [over, dropProps] = useFileDrop(files.take);
  const [exporting, setExporting] = useState(false);
  const { languages, setColumns } = useLanguageColumns(messages.languages, start);
  const filter = useMessageFilter(messages, languages, {
    filter: start.missing === undefined ? 'all' : 'missing',
    open: () => messageToOpen(start, messages),
  });
  const hasEnglish = resources.languages.some(({ lang }) => lang === 'en');
  const openCell = (next: OpenMessage) => {
    setColumns([...new Set([...languages, next.lang])]);
    filter.setOpen(next);
  };
  return (
    <Card {...(mayEdit ? dropProps : {})} className={over && mayEdit ? 'shadow-focus' : undefined}>
      <MessagesHeader
        messages={messages}
        mayEdit={mayEdit}
        onExport={hasEnglish ? () => setExporting(true) : undefined}
        onAddLanguage={(lang) => {
          messages.addLanguage(lang);
          setColumns([...languages, lang]);
        }}
        isUploading={files.busy}
        onFiles={files.take}
      />
      <MessagesBody {...{ resources, messages, mayEdit, filter, languages, setColumns, start }} />
      {mayEdit ? (
        <>
          <Received received={files.received} onClose={files.clear} />
          <AddSettingTitles titles={props.settingMessages} messages={messages} />
          <AddMessage
            known={messages.ids}
            onAdd={(id) => {
              messages.addId(id);
              filter.clear();
              filter.setOpen({ id, lang: languages[0] ?? 'en' });
            }}
          />
          <SaveBar handler={handler} version={version} resources={resources} messages={messages} onOpen={openCell} />
        </>
      ) : null}
      <XliffDialogs
        handler={handler}
        version={version}
        languages={messages.languages}
        isExporting={exporting}
        file={mayEdit ? files.translated : undefined}
        onCloseExport={() => setExporting(false)}
        onCloseImport={files.clearTranslated}
      />
    </Card>
  );
}

interface MessagesBodyProps extends Pick<MessagesCardProps, 'resources' | 'mayEdit' | 'start'> {
  messages: EditedMessages;
  filter: ReturnType<typeof useMessageFilter>;
  languages: readonly string[];
  setColumns(languages: readonly string[]): void;
}

function MessagesBody({ resources, messages, mayEdit, filter, languages, setColumns, start }: MessagesBodyProps) {
  const { t } = useTranslation('localization');
  const [samples, setSamples] = useState<readonly string[]>(start.message?.params ?? []);
  return (
    <>
      {resources.leftOut?.languages ? (
        <CardBody>
          <Banner status="warning" boxed>
            {t('languages.leftOut', { count: resources.leftOut.languages })}
          </Banner>
        </CardBody>
      ) : null}
      <CarriedLanguages languages={resources.languages} />
      {messages.ids.length === 0 ? (
        <CardBody>
          <p className="text-ink-2">{t(mayEdit ? 'empty.why' : 'empty.viewer')}</p>
        </CardBody>
      ) : (
        <>
          <MessageToolbar
            messages={messages}
            filter={filter}
            languages={languages}
            onLanguages={setColumns}
            start={start}
            samples={samples}
            onSample={(index, value) => setSamples((current) => Object.assign([...current], { [index]: value }))}
          />
          {filter.ids.length === 0 ? (
            <p className="px-4 pb-4 text-ink-2">{t('noMatch')}</p>
          ) : (
            <MessageTable
              messages={messages}
              languages={languages}
              ids={filter.ids}
              mayEdit={mayEdit}
              open={filter.open}
              onOpen={filter.setOpen}
              samples={withPlaceholders(samples)}
            />
          )}
        </>
      )}
    </>
  );
}

const isXliff = ({ name }: File): boolean => /\.(?:xlf|xliff)$/i.test(name);

/** Handles files that were chosen or dropped: stores resource files, and opens the import dialog for an XLIFF file. */
function useMessageFiles(handler: string, version: string, messages: EditedMessages) {
  const files = useResourceFiles({ handler, version, onStored: messages.discard });
  const [translated, setTranslated] = useState<File>();
  const take = (all: readonly File[]) => {
    setTranslated(all.find(isXliff));
    const others = all.filter((file) => !isXliff(file));
    if (others.length > 0) files.take(others);
  };
  return { ...files, take, translated, clearTranslated: () => setTranslated(undefined) };
}

/**
 * Returns the languages that have a column: the chosen languages, or by default English, the requested language, the
 * reader's language, and as many other languages as fit.
 */
function useLanguageColumns(all: readonly string[], start: MessagesStart) {
  const { i18n } = useTranslation('localization');
  const [columns, setColumns] = useState<readonly string[]>();
  const languages = useMemo(() => {
    if (columns !== undefined) return all.filter((lang) => columns.includes(lang));
    const requested = [start.message?.lang ?? start.missing, i18n.language];
    const first = all.filter((lang) => lang === 'en' || requested.includes(lang));
    const shown = new Set([...first, ...all].slice(0, Math.max(fewColumns, first.length)));
    return all.filter((lang) => shown.has(lang));
  }, [all, columns, start, i18n.language]);
  return { languages, setColumns };
}

/** Returns the cell that the URL names, or the first message that the requested language lacks. */
function messageToOpen({ message, missing }: MessagesStart, messages: EditedMessages): OpenMessage | undefined {
  if (message !== undefined && messages.ids.includes(message.id)) return message;
  if (missing === undefined) return undefined;
  const id = messages.ids.find((each) => messages.textOf(missing, each).trim() === '');
  return id === undefined ? undefined : { id, lang: missing };
}

/** Replaces a blank sample value with its placeholder. */
const withPlaceholders = (samples: readonly string[]): string[] =>
  Array.from(samples, (sample, index) => (sample === undefined || sample === '' ? `{${index}}` : sample));
