'use client';

import { useState } from 'react';
import { type Terms, termsFrom } from '#app/(portal)/vms/[vmId]/executions/new/term-fields.tsx';
import type { StartingPoint } from './starting-point.ts';

/** A version while it is being edited. */
export interface RunbookDraft {
  title: string;
  description: string;
  version: string;
  plan: string;
  schema: string;
  terms: Terms;
}

const draftFrom = ({ title, description, version, plan, schema, ...times }: StartingPoint): RunbookDraft => ({
  ...{ title, description, version, plan, schema },
  terms: termsFrom(times),
});

/** The draft in the editor, and whether it differs from what is saved. */
export function useRunbookDraft(start: StartingPoint) {
  const [draft, setDraft] = useState(() => draftFrom(start));
  const [saved, setSaved] = useState(() => (start.draft === null ? '' : JSON.stringify(draftFrom(start))));
  const [first] = useState(() => JSON.stringify(draftFrom(start)));
  const now = JSON.stringify(draft);
  return {
    draft,
    change: (part: Partial<RunbookDraft>) => setDraft((before) => ({ ...before, ...part })),
    isSaved: now === saved,
    isTouched: now !== saved && now !== first,
    /** Records that this draft has been saved. */
    noteSaved: (what: RunbookDraft) => setSaved(JSON.stringify(what)),
  };
}
