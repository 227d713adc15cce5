'use client';

import { Plus } from 'lucide-react';
import { memo, type Ref } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import { Textarea } from '#app/_ui/input.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { Td, Tr } from '#app/_ui/table.tsx';
import { fillTemplate, placeholdersOf } from '#protocol/template.ts';
import { Conflict } from './conflict.tsx';
import { TemplateText } from './template-text.tsx';
import type { EditedMessages } from './use-messages.ts';

export interface MessageRowProps {
  ref: Ref<HTMLTableRowElement>;
  index: number;
  id: string;
  messages: EditedMessages;
  /** Languages that have a column. */
  languages: readonly string[];
  mayEdit: boolean;
  /** The language whose field gets the focus; undefined if the row is closed. */
  focusOn: string | undefined;
  onOpen(open: { id: string; lang: string } | undefined): void;
  samples: readonly string[];
}

/** One message with its text in each shown language. The open row has fields and a preview. */
function OneMessage({ ref, index, id, messages, languages, focusOn, ...props }: MessageRowProps) {
  const { t } = useTranslation('localization');
  const isOpen = focusOn !== undefined;
  return (
    <Tr ref={ref} data-index={index} aria-rowindex={index + 2} selected={isOpen} className={cn(isOpen && 'align-top')}>
      <Td className={cn('mono truncate', isOpen && 'py-2.5')} title={id}>
        {id}
        {isOpen ? <span className="mt-3 block font-sans text-11 text-ink-3">{t('preview')}</span> : null}
      </Td>
      {languages.map((lang) => (
        <Td key={lang} className={cn('whitespace-normal', isOpen ? 'py-1.5' : 'py-0')}>
          {isOpen ? (
            <OpenCell lang={lang} id={id} messages={messages} focused={focusOn === lang} {...props} />
          ) : (
            <ClosedCell lang={lang} id={id} messages={messages} {...props} />
          )}
        </Td>
      ))}
    </Tr>
  );
}

/** Memoized, so that scrolling renders only rows that were not visible before. */
export const MessageRow = memo(OneMessage);

interface CellProps extends Pick<MessageRowProps, 'id' | 'messages' | 'mayEdit' | 'onOpen' | 'samples'> {
  lang: string;
}

function ClosedCell({ lang, id, messages, mayEdit, onOpen }: CellProps) {
  const { t } = useTranslation('localization');
  const text = messages.textOf(lang, id);
  const isBlank = text.trim() === '';
  return (
    <button
      type="button"
      onClick={() => onOpen({ id, lang })}
      className="flex min-h-(--row) w-full min-w-0 items-center gap-1.5 rounded-sm py-1.5 text-start"
    >
      <span className="sr-only">{t('cell', { lang, id })}: </span>
      {isBlank ? (
        <span className="inline-flex items-center gap-1 text-ink-3">
          {mayEdit ? <Plus aria-hidden className="size-3.5" /> : null}
          {t(mayEdit ? 'add' : 'notTranslated')}
        </span>
      ) : (
        <span className="min-w-0 wrap-anywhere" lang={lang}>
          <TemplateText text={text} />
        </span>
      )}
      <Mismatch lang={lang} id={id} messages={messages} />
      {messages.conflictOf(lang, id) === undefined ? (
        messages.isChanged(lang, id) ? (
          <span className="ms-auto shrink-0 text-11 text-brand-text">{t('changed')}</span>
        ) : null
      ) : (
        <span className="ms-auto shrink-0 text-11 text-warning-text">{t('changed.both')}</span>
      )}
    </button>
  );
}

function OpenCell({ lang, id, messages, mayEdit, onOpen, samples, focused }: CellProps & { focused: boolean }) {
  const { t } = useTranslation('localization');
  const text = messages.textOf(lang, id);
  const isFallback = text.trim() === '';
  const shown = isFallback ? messages.textOf('en', id) : text;
  return (
    <div className="grid gap-1">
      {mayEdit ? (
        <Textarea
          aria-label={t('cell', { lang, id })}
          lang={lang}
          rows={1}
          ref={focused ? focusOnce : undefined}
          value={text}
          onChange={(event) => messages.write(lang, id, event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return;
            event.stopPropagation();
            onOpen(undefined);
          }}
        />
      ) : (
        <p className="wrap-anywhere">
          <TemplateText text={text} />
        </p>
      )}
      <Conflict lang={lang} id={id} messages={messages} />
      <Mismatch lang={lang} id={id} messages={messages} long />
      {shown.trim() === '' ? null : (
        <p className="flex items-baseline gap-1.5 wrap-anywhere text-ink-2" data-preview={lang}>
          {isFallback ? (
            <span
              title={t('fallback')}
              className="mono-11 rounded-xs bg-warning-tint px-1 leading-[14px] text-warning-text shadow-[inset_0_0_0_1px_var(--warning-line)]"
            >
              en<span className="sr-only">, {t('fallback')}</span>
            </span>
          ) : null}
          <span className="min-w-0" lang={isFallback ? 'en' : lang}>
            {fillTemplate(shown, samples)}
          </span>
        </p>
      )}
    </div>
  );
}

function focusOnce(field: HTMLTextAreaElement | null): void {
  field?.focus();
}

function Mismatch({
  lang,
  id,
  messages,
  long = false,
}: Pick<CellProps, 'lang' | 'id' | 'messages'> & { long?: boolean }) {
  const { t } = useTranslation('localization');
  const difference = differenceOf(messages, lang, id);
  if (difference === undefined) return null;
  const { lacking, extra } = difference;
  const sentence = [
    lacking.length > 0 ? t('lacks', { placeholders: lacking.join(' ') }) : null,
    extra.length > 0 ? t('hasExtra', { placeholders: extra.join(' ') }) : null,
  ]
    .filter((part) => part !== null)
    .join(' ');
  return (
    <span
      data-st="warning"
      title={long ? undefined : sentence}
      className="inline-flex shrink-0 items-center gap-1 text-12 text-st-text"
    >
      <StatusIcon status="warning" />
      {long ? sentence : <span aria-hidden>{[...lacking, ...extra].join(' ')}</span>}
      {long ? null : <span className="sr-only">{sentence}</span>}
    </span>
  );
}

/**
 * Returns the placeholders that a text lacks or adds, compared with English. Returns undefined if there are none, or if
 * either text is missing.
 */
export function differenceOf(
  messages: Pick<EditedMessages, 'textOf'>,
  lang: string,
  id: string,
): { lacking: string[]; extra: string[] } | undefined {
  if (lang === 'en') return undefined;
  const [english, text] = [messages.textOf('en', id), messages.textOf(lang, id)];
  if (english.trim() === '' || text.trim() === '') return undefined;
  const [expected, found] = [placeholdersOf(english), placeholdersOf(text)];
  const lacking = expected.filter((index) => !found.includes(index)).map((index) => `{${index}}`);
  const extra = found.filter((index) => !expected.includes(index)).map((index) => `{${index}}`);
  return lacking.length + extra.length === 0 ? undefined : { lacking, extra };
}
