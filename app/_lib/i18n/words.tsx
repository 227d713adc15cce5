import type { ReactNode } from 'react';
import { bundlesOf } from './catalog.ts';
import type { WordNamespace } from './namespaces.ts';
import { AddWords } from './provider.tsx';
import { currentLanguage } from './server.ts';

/** Sends the words that the client components below need, in this reader's language only. */
export async function Words({ namespaces, children }: { namespaces: readonly WordNamespace[]; children: ReactNode }) {
  const language = await currentLanguage();
  return (
    <AddWords language={language} bundles={bundlesOf(language, namespaces)}>
      {children}
    </AddWords>
  );
}
