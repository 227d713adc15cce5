import type { ReactNode } from 'react';
import { bundlesOf } from './catalog.ts';
import { AddWords } from './client.tsx';
import type { WordNamespace } from './namespaces.ts';
import { currentLanguage } from './server.ts';

/** Sends texts to the client components below it, in the reader's language only. */
export async function Words({ namespaces, children }: { namespaces: readonly WordNamespace[]; children: ReactNode }) {
  const language = await currentLanguage();
  return (
    <AddWords language={language} bundles={bundlesOf(language, namespaces)}>
      {children}
    </AddWords>
  );
}
