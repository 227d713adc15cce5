'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import type { ExplainedProblem } from '#app/_lib/problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { CardFooter } from '#app/_ui/card.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import type { OpenMessage } from './use-message-filter.ts';
import { type SaveLanguages, type SaveLanguagesOptions, useSaveLanguages } from './use-save-languages.ts';

export interface SaveBarProps extends SaveLanguagesOptions {
  onOpen(open: OpenMessage): void;
}

/** Saves or discards the edits of each language, and shows why saving failed. */
export function SaveBar({ onOpen, ...options }: SaveBarProps) {
  const { messages } = options;
  const saves = useSaveLanguages(options);
  if (messages.changes.size === 0 && saves.problems.length === 0) return null;
  return (
    <CardFooter className="sticky bottom-0 z-2">
      {[...messages.changes].map(([lang, count]) => (
        <LanguageButtons key={lang} lang={lang} count={count} messages={messages} saves={saves} onOpen={onOpen} />
      ))}
      {saves.problems.map((problem) => (
        <SaveProblem key={problem.requestId ?? problem.message} problem={problem} />
      ))}
    </CardFooter>
  );
}

interface LanguageButtonsProps extends Pick<SaveBarProps, 'messages' | 'onOpen'> {
  lang: string;
  /** Number of changed messages. */
  count: number;
  saves: SaveLanguages;
}

function LanguageButtons({ lang, count, messages, saves, onOpen }: LanguageButtonsProps) {
  const { t } = useTranslation('localization');
  const conflicts = messages.conflicts.get(lang) ?? [];
  const first = conflicts[0];
  return (
    <span className="inline-flex flex-wrap items-center gap-1">
      <Button busy={saves.isSaving(lang)} disabled={first !== undefined} onClick={() => void saves.save(lang)}>
        {t('save', { lang, count })}
      </Button>
      <Button
        variant="ghost"
        aria-label={t('discard.of', { lang })}
        onClick={() => {
          messages.discard(lang);
          saves.clear(lang);
        }}
      >
        {t('discard')}
      </Button>
      {first === undefined ? null : (
        <button
          type="button"
          onClick={() => onOpen({ id: first, lang })}
          className="rounded-xs text-12 text-warning-text underline decoration-warning-line underline-offset-3"
        >
          {t('conflict.count', { count: conflicts.length })}
        </button>
      )}
    </span>
  );
}

function SaveProblem({ problem }: { problem: ExplainedProblem }) {
  return (
    <div role="alert" className="grid basis-full gap-1">
      <FieldError>{problem.message}</FieldError>
      {problem.faults.map((fault) => (
        <FieldError key={`${fault.path} ${fault.code}`}>
          <code className="mono me-1.5">{fault.path}</code>
          {fault.message}
        </FieldError>
      ))}
    </div>
  );
}
