'use client';

import { Monitor, Moon, Sun } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { MenuLabel, MenuRadioGroup, MenuRadioItem } from '../_ui/dropdown-menu.tsx';
import { setTheme } from './set-theme.ts';
import type { Theme } from './theme.ts';

const choices = [
  { value: 'system', icon: Monitor },
  { value: 'light', icon: Sun },
  { value: 'dark', icon: Moon },
] as const;

/** The contents of the theme menu. */
export function ThemeChoices({ chosen }: { chosen: Theme }) {
  const { t } = useTranslation('navigation');
  function choose(value: string) {
    const choice = choices.find((candidate) => candidate.value === value)?.value;
    if (choice !== undefined) setTheme(choice);
  }
  return (
    <>
      <MenuLabel>{t('theme')}</MenuLabel>
      <MenuRadioGroup value={chosen} onValueChange={choose}>
        {choices.map(({ value, icon: Icon }) => (
          <MenuRadioItem key={value} value={value}>
            <Icon aria-hidden />
            {t(`theme.${value}`)}
          </MenuRadioItem>
        ))}
      </MenuRadioGroup>
    </>
  );
}
