'use client';

import { Moon, Sun, SunMoon } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { IconButton } from '../_ui/button.tsx';
import { LazyMenu } from '../_ui/lazy-menu.tsx';
import { useTheme } from './set-theme.ts';
import type { Theme } from './theme.ts';

const icons = { system: SunMoon, light: Sun, dark: Moon };

/** A menu of the themes: system, light and dark. A choice is applied immediately and stored in a cookie. */
export function ThemeMenu({ theme }: { theme: Theme }) {
  const { t } = useTranslation('navigation');
  const chosen = useTheme(theme);
  const Icon = icons[chosen];
  return (
    <LazyMenu
      trigger={
        <IconButton size="sm" label={`${t('theme')}: ${t(`theme.${chosen}`)}`}>
          <Icon aria-hidden />
        </IconButton>
      }
      load={() => import('./theme-choices.tsx')}
    >
      {({ ThemeChoices }) => <ThemeChoices chosen={chosen} />}
    </LazyMenu>
  );
}
