'use client';

import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ExplainedProblem } from '#app/_lib/problem.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { storeLanguage } from './store-language.ts';

/** The result of an uploaded language file. */
export interface ReceivedFile {
  name: string;
  outcome: { stored: { lang: string; messages: number } } | { malformed: string } | { refused: ExplainedProblem };
}

interface Options {
  handler: string;
  version: string;
  /** Called after a language was replaced. */
  onStored(lang: string): void;
}

/** Stores language files. Each file replaces its language immediately. */
export function useResourceFiles({ handler, version, onStored }: Options) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const [received, setReceived] = useState<readonly ReceivedFile[]>([]);
  const [busy, setBusy] = useState(false);

  const store = async (file: File): Promise<ReceivedFile['outcome']> => {
    let contents: unknown;
    try {
      contents = JSON.parse(await file.text());
    } catch (error) {
      return { malformed: error instanceof Error ? error.message : String(error) };
    }
    try {
      const lang = languageIn(contents) ?? file.name.replace(/\.json$/i, '');
      const stored = await storeLanguage({ handler, version, lang, file: contents });
      onStored(stored.lang);
      return { stored };
    } catch (error) {
      return { refused: explain(error) };
    }
  };

  const take = async (files: readonly File[]) => {
    setBusy(true);
    const outcomes: ReceivedFile[] = [];
    // English first, because the other languages are compared with English.
    const inOrder = [...files].sort((a, b) => Number(b.name.startsWith('en.')) - Number(a.name.startsWith('en.')));
    for (const file of inOrder) outcomes.push({ name: file.name, outcome: await store(file) });
    setReceived(outcomes);
    setBusy(false);
    await queryClient.invalidateQueries(trpc.resources.pathFilter());
  };

  return { received, busy, take: (files: readonly File[]) => void take(files), clear: () => setReceived([]) };
}

/** Returns the language that a resource file states. */
function languageIn(contents: unknown): string | undefined {
  const first: unknown = Array.isArray(contents) ? contents[0] : undefined;
  if (typeof first !== 'object' || first === null) return undefined;
  const named = Object.entries(first).find(([name]) => name.toLowerCase() === 'lang')?.[1];
  return typeof named === 'string' ? named : undefined;
}
