'use client';

import { useState } from 'react';
import { type Terms, termsFrom } from '#app/(portal)/vms/[vmId]/executions/new/terms.ts';
import type { StartingPoint } from './starting-point.ts';
import { type TypedTexts, typedIn } from './typed-texts.ts';

/** A version while it is being edited. */
export interface RunbookDraft {
  title: string;
  description: string;
  version: string;
  plan: string;
  schema: string;
  terms: Terms;
  /** Texts that are not valid yet, and are therefore not in the plan. */
  typed: TypedTexts;
}

/** A change of some parts of a draft. */
export type RunbookChange = Partial<RunbookDraft> | ((before: RunbookDraft) => Partial<RunbookDraft>);

const draftFrom = ({ title, description, version, plan, schema, ...times }: StartingPoint): RunbookDraft => ({
  ...{ title, description, version, plan, schema },
  terms: termsFrom(times),
  typed: {},
});

/** The draft in the editor, and whether it differs from what is saved. */
export function useRunbookDraft(start: StartingPoint) {
  const [draft, setDraft] = useState(() => draftFrom(start));
  const [saved, setSaved] = useState(() =>
    start.draft === null ? null : { version: start.version, text: JSON.stringify(draftFrom(start)) },
  );
  const [first] = useState(() => JSON.stringify(draftFrom(start)));
  const now = JSON.stringify(draft);
  return {
    draft,
    change: (part: RunbookChange) =>
      setDraft((before) => {
        const after = { ...before, ...(typeof part === 'function' ? part(before) : part) };
        return { ...after, typed: typedIn(after.plan, after.typed) };
      }),
    /** The version that was saved last; null if none was. */
    savedVersion: saved?.version ?? null,
    isSaved: now === saved?.text,
    isTouched: now !== saved?.text && now !== first,
    /** Records that this draft has been saved. */
    noteSaved: (what: RunbookDraft) => setSaved({ version: what.version, text: JSON.stringify(what) }),
  };
}
