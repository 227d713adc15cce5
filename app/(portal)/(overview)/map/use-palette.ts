'use client';

import { useLayoutEffect, useState } from 'react';
import { type Palette, readPalette } from './paint.ts';

/** Returns the map's colors in the current theme; null until they are read. */
export function usePalette(): Palette | null {
  const [palette, setPalette] = useState<Palette | null>(null);
  useLayoutEffect(() => {
    const read = (): void => setPalette(readPalette(document.documentElement));
    read();
    const system = matchMedia('(prefers-color-scheme: dark)');
    system.addEventListener('change', read);
    const observer = new MutationObserver(read);
    observer.observe(document.documentElement, { attributeFilter: ['data-theme', 'class', 'style'] });
    return () => {
      system.removeEventListener('change', read);
      observer.disconnect();
    };
  }, []);
  return palette;
}
