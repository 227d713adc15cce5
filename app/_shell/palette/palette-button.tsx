'use client';

import { Search } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Kbd } from '../../_ui/kbd.tsx';

const load = () => import('./palette.tsx');
const Palette = dynamic(() => load().then((module) => module.Palette), { ssr: false });

const isMac = () => /mac|iphone|ipad/i.test(navigator.platform);
const never = () => () => {};

/** Opens the command palette: by a click, and by Ctrl K or ⌘K from everywhere. */
export function PaletteButton() {
  const { t } = useTranslation('navigation');
  const [open, setOpen] = useState(false);
  const mac = useSyncExternalStore(never, isMac, () => false);
  useEffect(() => {
    function press(event: KeyboardEvent) {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey) || event.altKey || event.shiftKey)
        return;
      // A dialog keeps what was begun in it.
      if (document.querySelector('[role="dialog"], [role="alertdialog"]') !== null) return;
      event.preventDefault();
      setOpen(true);
    }
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
  return (
    <>
      <button
        type="button"
        aria-haspopup="dialog"
        aria-keyshortcuts="Control+K Meta+K"
        onPointerEnter={() => void load().catch(() => {})}
        onClick={() => setOpen(true)}
        className="flex h-(--control) items-center gap-2 rounded-md bg-surface ps-2.5 pe-1.5 text-ink-3 shadow-hair hover:text-ink-2 lg:w-[250px] max-lg:bg-transparent max-lg:px-2 max-lg:shadow-none max-lg:hover:bg-hover pointer-coarse:h-(--touch)"
      >
        <Search aria-hidden className="size-4 shrink-0" />
        <span className="min-w-0 flex-1 truncate text-start max-lg:sr-only">{t('palette')}</span>
        <span aria-hidden className="flex gap-1 max-lg:hidden">
          <Kbd>{mac ? '⌘' : 'Ctrl'}</Kbd>
          <Kbd>K</Kbd>
        </span>
      </button>
      {open ? <Palette onClose={() => setOpen(false)} /> : null}
    </>
  );
}
