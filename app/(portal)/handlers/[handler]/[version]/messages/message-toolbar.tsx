'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Input } from '#app/_ui/input.tsx';
import { Select } from '#app/_ui/select.tsx';
import { placeholdersOf } from '#protocol/template.ts';
import { filters } from './filter.ts';
import { LanguageColumns } from './language-columns.tsx';
import { SampleFields } from './sample-fields.tsx';
import type { MessagesStart } from './start.ts';
import type { MessageFilterState } from './use-message-filter.ts';
import type { EditedMessages } from './use-messages.ts';

export interface MessageToolbarProps {
  messages: EditedMessages;
  filter: MessageFilterState;
  languages: readonly string[];
  onLanguages(languages: readonly string[]): void;
  start: MessagesStart;
  samples: readonly string[];
  onSample(index: number, value: string): void;
}

/** Search, filter and languages of the table, and sample values for the open message. */
export function MessageToolbar({ messages, filter, languages, onLanguages, ...props }: MessageToolbarProps) {
  const { t } = useTranslation('localization');
  const { start, samples, onSample } = props;
  const { open } = filter;
  return (
    <div className="flex flex-wrap items-center gap-2 px-4 pb-2">
      <Input
        type="search"
        aria-label={t('search')}
        placeholder={t('search')}
        value={filter.search}
        onChange={(event) => filter.setSearch(event.target.value)}
        className="w-[220px]"
      />
      <Select
        aria-label={t('shown')}
        value={filter.filter}
        onChange={(event) => filter.setFilter(filters.find((one) => one === event.target.value) ?? 'all')}
        options={filters.map((one) => ({ value: one, label: t(`shown.${one}`) }))}
        className="w-48"
      />
      <LanguageColumns languages={messages.languages} shown={languages} onShown={onLanguages} />
      {open ? (
        <SampleFields
          id={open.id}
          placeholders={placeholdersIn(messages, open.id, start.message?.id === open.id ? start.message.params : [])}
          samples={samples}
          onSample={onSample}
        />
      ) : null}
    </div>
  );
}

/** Returns up to ten placeholders: those in a message's texts, and those that the reported params would fill. */
function placeholdersIn({ languages, textOf }: EditedMessages, id: string, params: readonly string[]): number[] {
  const all = new Set([...params.keys(), ...languages.flatMap((lang) => placeholdersOf(textOf(lang, id)))]);
  return [...all].sort((a, b) => a - b).slice(0, 10);
}
