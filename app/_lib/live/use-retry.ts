'use client';

import { useRouter } from 'next/navigation';
import { startTransition, useCallback, useEffect } from 'react';
import { useLive } from './provider.tsx';

/**
 * Returns a function that retries rendering a failed page on the server. The page is also retried when the connection
 * is restored.
 */
export function useRetry(reset: () => void): () => void {
  const { phase } = useLive();
  const router = useRouter();
  const retry = useCallback(() => {
    startTransition(() => {
      router.refresh();
      reset();
    });
  }, [router, reset]);
  useEffect(() => {
    if (phase === 'back') retry();
  }, [phase, retry]);
  return retry;
}
