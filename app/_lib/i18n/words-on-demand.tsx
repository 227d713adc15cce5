'use client';

import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import { toast } from '../../_ui/toast.tsx';
import { DoorError } from '../post-json.ts';
import { problemOfResponse } from '../problem.ts';
import { useProblem } from '../use-problem.ts';
import { AddWords, useMissingWords, useTranslation } from './client.tsx';
import type { Bundles, WordNamespace } from './namespaces.ts';

export interface WordsOnDemandProps {
  namespaces: readonly WordNamespace[];
  children: ReactNode;
  /** Called if the texts cannot be loaded, after a message has said so. */
  onFailed(): void;
}

/**
 * Loads texts for components that most readers of a page never open, so that the page does not send them. Renders
 * nothing until they are loaded. Texts that the page has already sent are not loaded again.
 */
export function WordsOnDemand({ namespaces, children, onFailed }: WordsOnDemandProps) {
  const { i18n } = useTranslation();
  const explain = useProblem();
  const missing = useMissingWords(namespaces);
  const loaded = useQuery({
    queryKey: ['words', i18n.language, ...missing],
    queryFn: () => loadWords(missing),
    enabled: missing.length > 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  // An earlier failure is not reported again while another attempt is in progress.
  const message = loaded.error === null || loaded.isFetching ? null : explain(loaded.error).message;
  useEffect(() => {
    if (message === null) return;
    toast(message);
    onFailed();
  }, [message, onFailed]);
  if (missing.length === 0) return children;
  if (loaded.data === undefined) return null;
  return (
    <AddWords language={i18n.language} bundles={loaded.data}>
      {children}
    </AddWords>
  );
}

async function loadWords(namespaces: readonly WordNamespace[]): Promise<Bundles> {
  const response = await fetch(`/words?${new URLSearchParams(namespaces.map((namespace) => ['of', namespace]))}`);
  if (!response.ok) throw new DoorError(await problemOfResponse(response));
  return response.json();
}
