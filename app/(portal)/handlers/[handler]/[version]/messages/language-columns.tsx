'use client';

import { Columns3 } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { LazyMenu } from '#app/_ui/lazy-menu.tsx';

/** Number of language columns that fit side by side. */
export const fewColumns = 4;

export interface LanguageColumnsProps {
  languages: readonly string[];
  shown: readonly string[];
  onShown(shown: string[]): void;
}

/** Chooses which languages have a column, if there are more languages than fit. */
export function LanguageColumns({ languages, shown, onShown }: LanguageColumnsProps) {
  const { t } = useTranslation('localization');
  if (languages.length <= fewColumns) return null;
  return (
    <LazyMenu
      align="start"
      trigger={
        <Button>
          <Columns3 aria-hidden />
          {t('columns', { shown: shown.length, count: languages.length })}
        </Button>
      }
    >
      {({ MenuCheckboxItem }) =>
        languages.map((lang) => (
          <MenuCheckboxItem
            key={lang}
            checked={shown.includes(lang)}
            onCheckedChange={(checked) =>
              onShown(languages.filter((each) => (each === lang ? checked === true : shown.includes(each))))
            }
          >
            <span translate="no" className="mono">
              {lang}
            </span>
          </MenuCheckboxItem>
        ))
      }
    </LazyMenu>
  );
}
