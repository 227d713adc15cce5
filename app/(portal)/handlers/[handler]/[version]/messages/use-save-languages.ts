'use client';

import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { DoorError } from '#app/_lib/post-json.ts';
import type { ExplainedProblem } from '#app/_lib/problem.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { toast } from '#app/_ui/toast.tsx';
import type { VersionResources } from '../version-data.ts';
import { mergeEdits } from './edits.ts';
import { type StoreLanguageAnswer, storeLanguage } from './store-language.ts';
import type { EditedMessages } from './use-messages.ts';

export interface SaveLanguagesOptions {
  handler: string;
  version: string;
  resources: VersionResources;
  messages: EditedMessages;
}

/** The state of saving a language: in progress, or failed with `error`. */
interface Save {
  error?: unknown;
}

export interface SaveLanguages {
  save(lang: string): Promise<void>;
  isSaving(lang: string): boolean;
  /** Clears the reason why a language was not saved. */
  clear(lang: string): void;
  problems: readonly ExplainedProblem[];
}

/**
 * Saves edited languages; several can be saved in parallel. Merges the edits with texts that other people saved since
 * the page was loaded. Does not save a language if someone else changed the same text.
 */
export function useSaveLanguages({ handler, version, resources, messages }: SaveLanguagesOptions): SaveLanguages {
  const { t } = useTranslation('localization');
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const [saves, setSaves] = useState<ReadonlyMap<string, Save>>(new Map());
  const note = (lang: string, save?: Save) =>
    setSaves((known) => {
      const next = new Map(known);
      if (save === undefined) next.delete(lang);
      else next.set(lang, save);
      return next;
    });

  /** Stores a language. Returns null and stores nothing if a conflict must be resolved first. */
  async function store(lang: string): Promise<StoreLanguageAnswer | null> {
    const put = (now: VersionResources) => {
      const { file, revision, conflicts } = mergeEdits(now, lang, messages.editsOf(lang));
      return conflicts.length > 0 ? null : storeLanguage({ handler, version, lang, file, revision });
    };
    try {
      return await put(resources);
    } catch (error) {
      if (!(error instanceof DoorError && error.data.status === 412)) throw error;
      // Someone else saved the language after this page loaded it.
      const options = trpc.resources.get.queryOptions({ handler, version });
      return put(await queryClient.fetchQuery({ ...options, staleTime: 0 }));
    }
  }

  async function save(lang: string): Promise<void> {
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
  }

  return {
    save,
    isSaving: (lang) => saves.has(lang) && saves.get(lang)?.error === undefined,
    clear: (lang) => note(lang),
    problems: [...saves.values()].flatMap(({ error }) => (error === undefined ? [] : [explain(error)])),
  };
}
