'use client';

import { useEffect } from 'react';

/** Keeps the focus on the page. The script is loaded after the page, because it is needed only after an action. */
export function useKeptFocus(): void {
  useEffect(() => {
    let isGone = false;
    let stop: (() => void) | undefined;
    const start = async () => {
      const { keepFocus } = await import('./keep-focus.ts');
      if (!isGone) stop = keepFocus();
    };
    // Without the script, the browser moves the focus as usual.
    start().catch(() => {});
    return () => {
      isGone = true;
      stop?.();
    };
  }, []);
}
