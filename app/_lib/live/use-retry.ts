'use client';

import { useRouter } from 'next/navigation';
import { startTransition, useCallback, useEffect } from 'react';
import { useLive } from './provider.tsx';

/** For an error page: returns a function that renders again on the server, and calls it when the connection is back. */
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
