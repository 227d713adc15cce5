'use client';

import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { DoorError } from '#app/_lib/session.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { CardFooter } from '#app/_ui/card.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import { toast } from '#app/_ui/toast.tsx';
import type { VersionResources } from '../version-data.ts';
import { mergeEdits } from './edits.ts';
import { type StoredLanguage, storeLanguage } from './store-language.ts';
import type { Messages } from './use-messages.ts';

export interface SaveBarProps {
  handler: string;
  version: string;
  resources: VersionResources;
  messages: Messages;
  onOpen(open: { id: string; lang: string }): void;
}

/** A language that is being saved, or why it was not. */
interface Save {
  error?: unknown;
}

/** Saves what was typed, language by language, several at once. What somebody else saved meanwhile is kept, or asked about. */
export function SaveBar({ handler, version, resources, messages, onOpen }: SaveBarProps) {
  const { t } = useTranslation('localization');
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const [saves, setSaves] = useState<ReadonlyMap<string, Save>>(new Map());
  const reference = { handler, version };

  /** Null where a decision is needed first. */
  const store = async (lang: string): Promise<StoredLanguage | null> => {
    const put = (now: VersionResources) => {
      const { file, revision, conflicts } = mergeEdits(now, lang, messages.editsOf(lang));
      return conflicts.length > 0 ? null : storeLanguage({ ...reference, lang, file, revision });
    };
    try {
      return await put(resources);
    } catch (error) {
      if (!(error instanceof DoorError && error.data.status === 412)) throw error;
      // Somebody else was faster: what is there now with what was typed here over it, unless both touched a text.
      return put(await queryClient.fetchQuery({ ...trpc.resources.get.queryOptions(reference), staleTime: 0 }));
    }
  };
  const note = (lang: string, save?: Save) =>
    setSaves((known) => {
      const next = new Map(known);
      if (save === undefined) next.delete(lang);
      else next.set(lang, save);
      return next;
    });
  const problems = [...saves.values()].flatMap((save) => (save.error === undefined ? [] : [explain(save.error)]));
  if (messages.changes.size === 0 && problems.length === 0) return null;

  const saveLanguage = async (lang: string) => {
    const sent = messages.editsOf(lang);
    note(lang, {});
    try {
      const stored = await store(lang);
      if (stored !== null) {
        await Promise.all([
          queryClient.invalidateQueries(trpc.resources.pathFilter()),
          queryClient.invalidateQueries(trpc.handlers.pathFilter()),
        ]);
        messages.forget(lang, sent);
        toast(t('saved', { lang, count: stored.messages }));
      }
      note(lang);
    } catch (error) {
      note(lang, { error });
    }
  };

  return (
    <CardFooter className="sticky bottom-0 z-2">
      {[...messages.changes].map(([lang, count]) => {
        const waiting = messages.conflicts.get(lang) ?? [];
        const first = waiting[0];
        return (
          <span key={lang} className="inline-flex flex-wrap items-center gap-1">
            <Button
              busy={saves.has(lang) && saves.get(lang)?.error === undefined}
              disabled={first !== undefined}
              onClick={() => void saveLanguage(lang)}
            >
              {t('save', { lang, count })}
            </Button>
            <Button
              variant="ghost"
              aria-label={t('discard.of', { lang })}
              onClick={() => {
                messages.discard(lang);
                note(lang);
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
                {t('conflict.count', { count: waiting.length })}
              </button>
            )}
          </span>
        );
      })}
      {problems.map((problem) => (
        <div key={problem.requestId ?? problem.message} role="alert" className="grid basis-full gap-1">
          <FieldError>{problem.message}</FieldError>
          {problem.faults.map((fault) => (
            <FieldError key={`${fault.path} ${fault.code}`}>
              <code className="mono me-1.5">{fault.path}</code>
              {fault.message}
            </FieldError>
          ))}
        </div>
      ))}
    </CardFooter>
  );
}
