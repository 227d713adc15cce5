'use client';

import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { problemOf } from '#app/_lib/problem.ts';
import { useTRPC, useTRPCClient } from '#app/_lib/trpc.tsx';
import { type AddedMachine, ageMs } from '../../model-data.ts';
import { machinesOf, readText, type ShownModelDocument, textOf } from './document-data.ts';

/** Milliseconds without typing after which the plan is requested. */
const pauseMs = 300;

/** The document of a model as it is edited. */
export interface DocumentDraft {
  text: string;
  /** The document of the model as it is. */
  base: string;
  isChanged: boolean;
  prune: boolean;
  /** How many times the text was replaced. */
  replacements: number;
  setText(text: string): void;
  setPrune(prune: boolean): void;
  discard(): void;
}

/** Keeps the text of the editor. Until it is edited, it follows the model. */
export function useDraft(document: ShownModelDocument['document']): DocumentDraft {
  const base = textOf(document);
  const [typed, setTyped] = useState<string | null>(null);
  const [prune, setPrune] = useState(false);
  const [replacements, setReplacements] = useState(0);
  return {
    ...{ text: typed ?? base, base, isChanged: typed !== null && typed !== base, prune, replacements },
    setText: setTyped,
    setPrune,
    discard: () => {
      setTyped(null);
      setPrune(false);
      setReplacements((count) => count + 1);
    },
  };
}

/** Plans the draft a moment after each change, and again when the model changes. */
export function usePlan(model: string, { text, prune }: DocumentDraft, revision: number) {
  const client = useTRPCClient();
  const settled = useSettled(text);
  const read = readText(settled);
  const query = useQuery({
    queryKey: ['plan of a document', model, settled, prune, revision],
    queryFn: () => client.models.planDocument.mutate({ model, document: read?.value, prune }),
    ...{ enabled: read !== null, retry: false, placeholderData: keepPreviousData, refetchInterval: ageMs },
  });
  const isBroken = readText(text) === null;
  const isCurrent = !isBroken && settled === text && !query.isPlaceholderData;
  return { ...query, isBroken, isCurrent };
}

function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), pauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

export interface ApplyOptions {
  onApplied(machines: readonly AddedMachine[]): void;
}

/** Applies a draft with the plan that is shown. */
export function useApply({ onApplied }: ApplyOptions) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const apply = useMutation(
    trpc.models.applyDocument.mutationOptions({
      onSuccess: (applied) => onApplied(machinesOf(applied)),
      onSettled: async () => {
        void queries.invalidateQueries(trpc.services.pathFilter());
        void queries.invalidateQueries(trpc.relations.pathFilter());
        void queries.invalidateQueries({ queryKey: ['plan of a document'] });
        await queries.invalidateQueries(trpc.models.pathFilter());
      },
    }),
  );
  const isOutdated = apply.error !== null && problemOf(apply.error).code === 'plan_moved_on';
  return { ...apply, isOutdated };
}
