'use client';

import { Search } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Kbd } from '../../_ui/kbd.tsx';
import { loadPalette, openPalette } from './palette-host.tsx';

const isMac = () => /mac|iphone|ipad/i.test(navigator.platform);
const never = () => () => {};

/** A button that opens the command palette, with its keyboard shortcut. */
export function PaletteButton() {
  const { t } = useTranslation('navigation');
  const mac = useSyncExternalStore(never, isMac, () => false);
  return (
    <button
      type="button"
      aria-haspopup="dialog"
      aria-keyshortcuts="Control+K Meta+K"
      onPointerEnter={() => void loadPalette().catch(() => {})}
      onClick={openPalette}
      className="flex h-(--control) items-center gap-2 rounded-md bg-surface ps-2.5 pe-1.5 text-ink-3 shadow-hair hover:text-ink-2 lg:w-[250px] max-lg:bg-transparent max-lg:px-2 max-lg:shadow-none max-lg:hover:bg-hover pointer-coarse:h-(--touch)"
    >
      <Search aria-hidden className="size-4 shrink-0" />
      <span className="min-w-0 flex-1 truncate text-start max-lg:sr-only">{t('palette')}</span>
      <span aria-hidden className="flex gap-1 max-lg:hidden">
        <Kbd>{mac ? '⌘' : 'Ctrl'}</Kbd>
        <Kbd>K</Kbd>
      </span>
    </button>
  );
}
