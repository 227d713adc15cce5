'use client';

import dynamic from 'next/dynamic';
import { useEffect, useSyncExternalStore } from 'react';
import { collectTypedAhead } from './typed.ts';

export const loadPalette = () => import('./palette.tsx');
const Palette = dynamic(() => loadPalette().then((module) => module.Palette), { ssr: false });

let open = false;
const listeners = new Set<() => void>();

function setOpen(next: boolean): void {
  open = next;
  for (const listen of listeners) listen();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Opens the command palette, if it is mounted. Browser only. */
export const openPalette = (): void => setOpen(true);

/** Renders the palette in the shell, so that it survives navigation. Ctrl K and ⌘K open it. */
export function PaletteHost() {
  const isOpen = useSyncExternalStore(
    subscribe,
    () => open,
    () => false,
  );
  useEffect(() => {
    function press(event: KeyboardEvent) {
      // Starts loading when Ctrl or ⌘ is pressed, so that the palette appears without a delay.
      if (event.key === 'Control' || event.key === 'Meta') void loadPalette().catch(() => {});
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey) || event.altKey || event.shiftKey)
        return;
      // Does not open over another dialog, so that no text typed there is lost.
      if (document.querySelector('[role="dialog"], [role="alertdialog"]') !== null) return;
      event.preventDefault();
      openPalette();
    }
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
  useEffect(() => (isOpen ? collectTypedAhead(() => setOpen(false)) : undefined), [isOpen]);
  return isOpen ? <Palette onClose={() => setOpen(false)} /> : null;
}
