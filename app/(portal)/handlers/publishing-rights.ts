'use client';

import { useReader } from '#app/_shell/reader.tsx';

/** Whether the reader may publish in this namespace. The portal checks this again. */
export function useMayPublish(namespace: string): boolean {
  const reader = useReader();
  return reader.role === 'admin' || (reader.role === 'publisher' && reader.namespaces.includes(namespace));
}
