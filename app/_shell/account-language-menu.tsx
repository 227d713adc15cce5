'use client';

import { LanguageMenu } from './language-menu.tsx';
import { useLanguageChoice } from './use-language-choice.ts';

/** The language menu of a signed-in reader, whose account stores the choice. */
export function AccountLanguageMenu({ languages }: { languages: readonly string[] }) {
  return <LanguageMenu languages={languages} choose={useLanguageChoice()} />;
}
