'use client';

import { LanguageMenu } from './language-menu.tsx';
import { useLanguageChoice } from './use-language-choice.ts';

/** The menu of languages for a signed-in reader: the account keeps the choice. */
export function AccountLanguageMenu({ languages }: { languages: readonly string[] }) {
  return <LanguageMenu languages={languages} choose={useLanguageChoice()} />;
}
