'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { setTheme, useTheme } from '#app/_shell/set-theme.ts';
import { useShell } from '#app/_shell/shell-state.ts';
import { useLanguageChoice } from '#app/_shell/use-language-choice.ts';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { Select } from '#app/_ui/select.tsx';
import { Row, Rows } from './rows.tsx';

const themes = ['system', 'light', 'dark'] as const;

/** The account's language, and the theme of this browser. */
export function Appearance() {
  const { t, i18n } = useTranslation(['account', 'navigation']);
  const chooseLanguage = useLanguageChoice();
  const shell = useShell();
  const theme = useTheme(shell.theme);

  // `shell.languages` lacks the current language if that language is used only in tests.
  const languages = [...new Set([...shell.languages, i18n.language])];

  function chooseTheme(wish: string) {
    const choice = themes.find((each) => each === wish);
    if (choice !== undefined) setTheme(choice);
  }

  return (
    <Card>
      <CardHeader title={t('account:appearance')} note={t('account:appearance.note')} />
      <Rows>
        <Row label={t('navigation:language')}>
          <Select
            aria-label={t('navigation:language')}
            className="max-w-60"
            value={i18n.language}
            onChange={(event) => void chooseLanguage(event.target.value)}
            options={languages.map((value) => ({ value, label: nameOf(value), lang: value }))}
          />
        </Row>
        <Row label={t('navigation:theme')}>
          <Select
            aria-label={t('navigation:theme')}
            className="max-w-60"
            value={theme}
            onChange={(event) => chooseTheme(event.target.value)}
            options={themes.map((value) => ({ value, label: t(`navigation:theme.${value}`) }))}
          />
        </Row>
      </Rows>
    </Card>
  );
}

/** Returns the name of a language in that language. */
function nameOf(language: string): string {
  const name = new Intl.DisplayNames(language, { type: 'language' }).of(language) ?? language;
  return name.charAt(0).toLocaleUpperCase(language) + name.slice(1);
}
