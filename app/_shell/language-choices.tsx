'use client';

import { useRouter } from 'next/navigation';
import type { TransitionStartFunction } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { writeChoice } from '../_lib/cookies.ts';
import { MenuLabel, MenuRadioGroup, MenuRadioItem } from '../_ui/dropdown-menu.tsx';
import { nameOfLanguage } from './language-name.ts';
import { useLanguageChoice } from './use-language-choice.ts';

export interface LanguageChoicesProps {
  languages: readonly string[];
  /** Runs the change, which continues after the menu has closed. */
  start: TransitionStartFunction;
}

/** The contents of the language menu before signing in: a cookie stores the choice. */
export function LanguageChoices(props: LanguageChoicesProps) {
  const router = useRouter();
  return (
    <Choices
      {...props}
      choose={(language) => {
        writeChoice('language', language);
        router.refresh();
      }}
    />
  );
}

/** The contents of the language menu of a signed-in reader, whose account stores the choice. */
export function AccountLanguageChoices(props: LanguageChoicesProps) {
  return <Choices {...props} choose={useLanguageChoice()} />;
}

function Choices({
  languages,
  start,
  choose,
}: LanguageChoicesProps & { choose(language: string): Promise<void> | void }) {
  const { t, i18n } = useTranslation('navigation');
  return (
    <>
      <MenuLabel>{t('language')}</MenuLabel>
      <MenuRadioGroup value={i18n.language} onValueChange={(value) => start(async () => choose(value))}>
        {languages.map((each) => (
          <MenuRadioItem key={each} value={each}>
            <span lang={each}>{nameOfLanguage(each)}</span>
          </MenuRadioItem>
        ))}
      </MenuRadioGroup>
    </>
  );
}
