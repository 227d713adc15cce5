'use client';

import { useState } from 'react';
import { unwrapSecrets, withText } from './draft.ts';
import type { Editing } from './use-editing.ts';

export interface Typing {
  type(text: string): void;
  /** How many times a wrapper was removed. Each time, the text in the editor is replaced. */
  unwraps: number;
  /** Whether the last text had a wrapper. */
  wasWrapped: boolean;
}

/** Handles JSON that is typed or pasted. A pasted settings file also fills the protected settings. */
export function useTyping({ base, setDraft, setSecrets }: Editing): Typing {
  const [unwraps, setUnwraps] = useState(0);
  const [wasWrapped, setWasWrapped] = useState(false);
  const hadSecrets = (base.extension?.protectedSettings ?? null) !== null;
  return {
    type(text) {
      const wrapped = unwrapSecrets(text, hadSecrets);
      setDraft((current) => withText(current, text));
      setWasWrapped(wrapped !== null);
      if (wrapped === null) return;
      setUnwraps((times) => times + 1);
      if (wrapped.secrets !== undefined) setSecrets(wrapped.secrets);
    },
    unwraps,
    wasWrapped,
  };
}
