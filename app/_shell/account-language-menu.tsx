'use client';

import { LanguageMenu } from './language-menu.tsx';
import { useLanguageChoice } from './use-language-choice.ts';

/** The menu of languages for who is signed in: the choice is the account's. */
export function AccountLanguageMenu({ languages }: { languages: readonly string[] }) {
  return <LanguageMenu languages={languages} choose={useLanguageChoice()} />;
}
