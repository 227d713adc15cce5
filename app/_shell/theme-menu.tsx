'use client';

import { Monitor, Moon, Sun, SunMoon } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { IconButton } from '../_ui/button.tsx';
import { LazyMenu } from '../_ui/lazy-menu.tsx';
import { setTheme, useTheme } from './set-theme.ts';
import type { Theme } from './theme.ts';

const icons = { system: SunMoon, light: Sun, dark: Moon };
const choices = [
  { value: 'system', icon: Monitor },
  { value: 'light', icon: Sun },
  { value: 'dark', icon: Moon },
] as const;

/** Light, dark or the system's theme. Applied immediately and stored in a cookie. */
export function ThemeMenu({ theme }: { theme: Theme }) {
  const { t } = useTranslation('navigation');
  const chosen = useTheme(theme);
  const Icon = icons[chosen];
  function choose(value: string) {
    const choice = choices.find((candidate) => candidate.value === value)?.value;
    if (choice !== undefined) setTheme(choice);
  }
  return (
    <LazyMenu
      trigger={
        <IconButton size="sm" label={`${t('theme')}: ${t(`theme.${chosen}`)}`}>
          <Icon aria-hidden />
        </IconButton>
      }
    >
      {({ MenuLabel, MenuRadioGroup, MenuRadioItem }) => (
        <>
          <MenuLabel>{t('theme')}</MenuLabel>
          <MenuRadioGroup value={chosen} onValueChange={choose}>
            {choices.map(({ value, icon: ChoiceIcon }) => (
              <MenuRadioItem key={value} value={value}>
                <ChoiceIcon aria-hidden />
                {t(`theme.${value}`)}
              </MenuRadioItem>
            ))}
          </MenuRadioGroup>
        </>
      )}
    </LazyMenu>
  );
}
