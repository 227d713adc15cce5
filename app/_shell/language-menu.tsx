'use client';

import { Languages } from 'lucide-react';
import { useTransition } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '../_ui/button.tsx';
import { LazyMenu } from '../_ui/lazy-menu.tsx';
import { nameOfLanguage } from './language-name.ts';

export interface LanguageMenuProps {
  languages: readonly string[];
  /** Whether the reader is signed in, so that the account stores the choice too. */
  signedIn: boolean;
}

/** Chooses the language of texts, messages, numbers and dates. Each language is listed by its own name. */
export function LanguageMenu({ languages, signedIn }: LanguageMenuProps) {
  const { t, i18n } = useTranslation('navigation');
  const [pending, start] = useTransition();
  const language = i18n.language;
  return (
    <LazyMenu
      trigger={
        <Button
          variant="ghost"
          size="sm"
          busy={pending}
          aria-label={`${language.toUpperCase()}, ${t('language')}: ${nameOfLanguage(language)}`}
        >
          <Languages aria-hidden />
          <span className="max-sm:hidden">{language.toUpperCase()}</span>
        </Button>
      }
      load={() => import('./language-choices.tsx')}
    >
      {({ LanguageChoices, AccountLanguageChoices }) =>
        signedIn ? (
          <AccountLanguageChoices languages={languages} start={start} />
        ) : (
          <LanguageChoices languages={languages} start={start} />
        )
      }
    </LazyMenu>
  );
}
