'use client';

import { Languages } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useTransition } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { writeChoice } from '../_lib/cookies.ts';
import { Button } from '../_ui/button.tsx';
import { LazyMenu } from '../_ui/lazy-menu.tsx';

export interface LanguageMenuProps {
  languages: readonly string[];
  /** Stores the choice and refreshes the page. If absent, only a cookie stores the choice. */
  choose?(language: string): Promise<void>;
}

/** Chooses the language of texts, messages, numbers and dates. Each language is listed by its own name. */
export function LanguageMenu({ languages, choose }: LanguageMenuProps) {
  const { t, i18n } = useTranslation('navigation');
  const router = useRouter();
  const [pending, start] = useTransition();
  const language = i18n.language;
  function keep(value: string) {
    writeChoice('language', value);
    router.refresh();
  }
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
    >
      {({ MenuLabel, MenuRadioGroup, MenuRadioItem }) => (
        <>
          <MenuLabel>{t('language')}</MenuLabel>
          <MenuRadioGroup value={language} onValueChange={(value) => start(async () => (choose ?? keep)(value))}>
            {languages.map((each) => (
              <MenuRadioItem key={each} value={each}>
                <span lang={each}>{nameOfLanguage(each)}</span>
              </MenuRadioItem>
            ))}
          </MenuRadioGroup>
        </>
      )}
    </LazyMenu>
  );
}

/** Returns the name of a language in that language: "Deutsch", "English". */
export function nameOfLanguage(language: string): string {
  const name = new Intl.DisplayNames(language, { type: 'language' }).of(language) ?? language;
  return name.charAt(0).toLocaleUpperCase(language) + name.slice(1);
}
