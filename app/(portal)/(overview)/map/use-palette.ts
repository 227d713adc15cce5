'use client';

import { useLayoutEffect, useState } from 'react';
import type { Look } from '../../rollouts/step-looks.ts';
import { type Palette, readPalette } from './paint.ts';

/** Returns the colors of these looks in the current theme; null until they are read. */
export function usePalette(looks: readonly Look[]): Palette | null {
  const [palette, setPalette] = useState<Palette | null>(null);
  useLayoutEffect(() => {
    const read = (): void => setPalette(readPalette(document.documentElement, looks));
    read();
    const system = matchMedia('(prefers-color-scheme: dark)');
    system.addEventListener('change', read);
    const observer = new MutationObserver(read);
    observer.observe(document.documentElement, { attributeFilter: ['data-theme', 'class', 'style'] });
    return () => {
      system.removeEventListener('change', read);
      observer.disconnect();
    };
  }, [looks]);
  return palette;
}
