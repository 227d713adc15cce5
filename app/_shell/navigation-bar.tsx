'use client';

import { usePathname, useSearchParams } from 'next/navigation';
import { useEffect } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { navigationEnded, useIsNavigating } from '../_lib/navigation.ts';

/**
 * A progress line at the top while the next page loads. The current page stays until then: a placeholder would be shown
 * for at least a third of a second, while most pages are ready in a tenth of a second.
 */
export function NavigationBar() {
  const { t } = useTranslation('navigation');
  const path = usePathname();
  const search = useSearchParams().toString();
  const isNavigating = useIsNavigating();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new URL ends the progress line
  useEffect(navigationEnded, [path, search]);
  if (!isNavigating) return null;
  return (
    <div
      role="progressbar"
      aria-label={t('loading')}
      className="pointer-events-none fixed inset-x-0 top-0 z-60 animate-late [animation-duration:250ms]"
    >
      <div className="h-0.5 origin-left animate-advance bg-brand motion-reduce:animate-none rtl:origin-right" />
    </div>
  );
}
